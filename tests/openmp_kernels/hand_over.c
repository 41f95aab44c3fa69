// A producer hands numbers to a consumer under a lock, or a counter is read without it.
#include <omp.h>
enum { N = 2 };
static omp_lock_t lock;
static int items[N], made, sum;

int main(void) {
    omp_init_lock(&lock);
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        for (int i = 0; i < N; i++) {
            omp_set_lock(&lock);
            items[made] = i; // RACE!
            made++;          // RACE!
            omp_unset_lock(&lock);
        }
#pragma omp section
        {
#ifdef RACY
            int ready = made; // RACE!
            for (int i = 0; i < ready; i++)
                sum += items[i]; // RACE!
#else
            omp_set_lock(&lock);
            for (int i = 0; i < made; i++)
                sum += items[i];
            omp_unset_lock(&lock);
#endif
        }
    }
    omp_destroy_lock(&lock);
    return sum == 99;
}
