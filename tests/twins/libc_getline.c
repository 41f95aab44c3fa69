// getline writes the buffer, the pointer to it and its size.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char *line;
static size_t capacity;

static void *worker(void *arg) {
#ifdef RACY
    return capacity ? arg : NULL; // RACE!
#else
    return arg;
#endif
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    ssize_t n = getline(&line, &capacity, stdin); // RACE!
    pthread_join(thread, NULL);
    free(line);
    return n == 99;
}
