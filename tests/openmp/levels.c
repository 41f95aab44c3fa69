// What a program asks about its threads; a region inside of a region has one thread.
#include <assert.h>
#include <omp.h>

int main(void) {
    int inner = 0;
    assert(!omp_in_parallel() && omp_get_num_threads() == 1 && omp_get_level() == 0);
    omp_set_num_threads(2);
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        assert(omp_get_num_threads() == 2 && omp_get_level() == 1 && omp_in_parallel());
#pragma omp parallel
        {
            assert(omp_get_num_threads() == 1 && omp_get_thread_num() == 0 && omp_get_level() == 2);
            assert(omp_get_ancestor_thread_num(1) == me && omp_get_team_size(1) == 2);
#ifdef RACY
            inner++; // RACE!
#else
#pragma omp atomic
            inner++;
#endif
        }
        assert(omp_get_thread_num() == me);
    }
    assert(!omp_in_parallel());
    return inner == 9;
}
