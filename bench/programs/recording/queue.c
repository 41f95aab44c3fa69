/* Producers and consumers of a bounded queue: a lock and two condition variables. */
#include <pthread.h>
#include <stdio.h>

#define ITEMS 150000
#define ROOM 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static long queue[ROOM];
static unsigned head, tail;

static void *produce(void *unused) {
    for (long i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (head - tail == ROOM)
            pthread_cond_wait(&not_full, &lock);
        queue[head++ % ROOM] = i;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consume(void *sum) {
    for (long i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (head == tail)
            pthread_cond_wait(&not_empty, &lock);
        *(long *)sum += queue[tail++ % ROOM];
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t threads[4];
    long sums[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, produce, 0);
        pthread_create(&threads[2 + i], 0, consume, &sums[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    printf("%ld\n", sums[0] + sums[1]);
    return 0;
}
