// Whether iterations meet depends on what another thread did first.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int step = 1, a[60];
static void *other(void *x) {
    pthread_mutex_lock(&m);
    step = 0;
    pthread_mutex_unlock(&m);
    return x;
}
int main(void) {
    pthread_t h;
    pthread_create(&h, 0, other, 0);
    pthread_mutex_lock(&m);
    int s = step;
    pthread_mutex_unlock(&m);
#ifndef RACY
    s = 1;
#endif
#pragma omp simd
    for (int i = 0; i < 20; i++)
        a[i * s] = i; // RACE!
    pthread_join(h, 0);
    return 0;
}
