/* Two threads walk over halves of an array again and again. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS (4L << 20)
#define ROUNDS 6

static long *array;

static void *walk(void *half) {
    long *start = array + (long)half * (WORDS / 2), sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (long i = 0; i < WORDS / 2; i++) {
            sum += start[i];
            start[i] = sum;
        }
    return (void *)sum;
}

int main(void) {
    pthread_t threads[2];
    array = calloc(WORDS, sizeof *array);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, walk, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    printf("%ld\n", array[WORDS - 1]);
    return 0;
}
