// Random points: the generator's state belongs to an iteration, or to all of them.
#include <stdlib.h>
enum { N = 4 };

int main(void) {
    int inside = 0;
#pragma omp parallel for reduction(+ : inside)
    for (int i = 0; i < N; i++) {
#ifdef RACY
        int x = (int)(lrand48() % 100), y = (int)(lrand48() % 100); // RACE!
#else
        unsigned state = (unsigned)i + 1;
        int x = rand_r(&state) % 100, y = rand_r(&state) % 100;
#endif
        inside += x * x + y * y < 10000;
    }
    return inside == 99;
}
