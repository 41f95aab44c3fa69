// N threads add to a counter M times each, always under its lock: nothing to reorder.
#include <pthread.h>

#ifndef N
#define N 2
#endif
#ifndef M
#define M 10
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int counter; // NORACE

static void *add(void *arg) {
    (void)arg;
    for (int i = 0; i < M; i++) {
        pthread_mutex_lock(&m);
        counter++;
        pthread_mutex_unlock(&m);
    }
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < N; i++) pthread_join(threads[i], 0);
    return 0;
}
