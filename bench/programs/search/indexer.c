// The indexer shape of Flanagan and Godefroid (POPL 2005): each thread puts its messages into a hash table of atomics and
// goes on to the next place where one is taken. With up to 11 threads nothing collides.
#include <pthread.h>
#include <stdatomic.h>

#ifndef THREADS
#define THREADS 13
#endif
#define PLACES 128
#define MESSAGES 4

static atomic_int table[PLACES];

static void *insert(void *number) {
    for (int message = 1; message <= MESSAGES; message++) {
        int word = message * 11 + (int)(long)number;
        int place = word * 7 % PLACES, expected = 0;
        while (!atomic_compare_exchange_strong(&table[place], &expected, word)) {
            expected = 0;
            place = (place + 1) % PLACES;
        }
    }
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, insert, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
