// Whether iterations meet depends on what another thread did first.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int step = 1, a[20];
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
    if (s == 0) {
#pragma omp simd
        for (int i = 0; i < 20; i++)
#ifdef RACY
            a[0] = i; // RACE!
#else
            a[i] = i;
#endif
    }
    pthread_join(h, 0);
    return 0;
}
