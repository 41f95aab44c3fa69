// Writer i sets a[i] to a[i - 1] + 1; the reader looks for the last zero: (N + 3) 2^(N - 2) classes.
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 15
#endif

static atomic_int a[N + 1];

static void *reader(void *arg) {
    (void)arg;
    int i = N;
    while (atomic_load(&a[i]) != 0) i--;
    return 0;
}

static void *writer(void *arg) {
    int i = (int)(long)arg;
    atomic_store(&a[i], atomic_load(&a[i - 1]) + 1);
    return 0;
}

int main(void) {
    pthread_t threads[N + 1];
    pthread_create(&threads[0], 0, reader, 0);
    for (long i = 1; i <= N; i++) pthread_create(&threads[i], 0, writer, (void *)i);
    for (int i = 0; i <= N; i++) pthread_join(threads[i], 0);
    return 0;
}
