/* Most work is on memory that each thread has for itself, or under the lock: the static engine settles it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 4096
#define ROUNDS 6000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static int progress;

static void *work(void *seed) {
    long table[SIZE];
    for (long i = 0; i < SIZE; i++)
        table[i] = i * (long)seed;
    for (int round = 0; round < ROUNDS; round++) {
        long sum = 0;
        for (long i = 1; i < SIZE; i++) {
            table[i] = table[i] * 31 + table[i - 1];
            sum ^= table[i];
        }
        pthread_mutex_lock(&lock);
        total += sum;
        pthread_mutex_unlock(&lock);
        progress = round;
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    printf("%ld %d\n", total, progress);
    return 0;
}
