// $ raceproof check usage.c
// Without arguments the program only says how to use it: no schedule of that shows the race.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long total;

static void *add(void *arg) {
    total += *(long *)arg;
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: usage NUMBER NUMBER\n");
        return 2;
    }
    long numbers[2] = {atol(argv[1]), atol(argv[2])};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", total);
    return 0;
}
