// N readers and one writer of an atomic: each reader comes before or after the writer, 2^N classes.
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 15
#endif

static atomic_int x;

static void *reader(void *arg) {
    (void)arg;
    return atomic_load(&x) ? &x : 0;
}

static void *writer(void *arg) {
    (void)arg;
    atomic_store(&x, 1);
    return 0;
}

int main(void) {
    pthread_t threads[N + 1];
    for (int i = 0; i < N; i++) pthread_create(&threads[i], 0, reader, 0);
    pthread_create(&threads[N], 0, writer, 0);
    for (int i = 0; i <= N; i++) pthread_join(threads[i], 0);
    return 0;
}
