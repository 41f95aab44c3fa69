// Calls that touch nothing but standard output are no events: a thread stops before what comes after them.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

static sem_t ready;
static int data;
static char text[4];

static void *produce(void *arg) {
    data++; // RACE!
    fflush(stdout);
    memcpy(text, "abc", (size_t)data & 2); // RACE!
    fprintf(stderr, "produced\n");
    sem_post(&ready);
    return arg;
}

int main(void) {
    sem_init(&ready, 0, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, produce, NULL);
    fprintf(stderr, "waits\n");
#ifndef RACY
    sem_wait(&ready);
#endif
    data++; // RACE!
    fflush(stdout);
    pthread_join(thread, NULL);
    return 0;
}
