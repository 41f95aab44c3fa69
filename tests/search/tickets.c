// Each of N threads draws K tickets from one counter, and works so much for each: (N K)! / (K!)^N classes.
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 4
#endif
#ifndef K
#define K 3
#endif

#ifndef WORK
#define WORK 0
#endif

static atomic_int next;

static void *draw(void *arg) {
    unsigned sum = (unsigned)(long)arg;
    for (int i = 0; i < K; i++) {
        sum += (unsigned)atomic_fetch_add(&next, 1);
        for (int work = 0; work < WORK; work++) sum = sum * 31 + 7;
    }
    return (void *)(long)sum;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++) pthread_create(&threads[i], 0, draw, 0);
    for (int i = 0; i < N; i++) pthread_join(threads[i], 0);
    return 0;
}
