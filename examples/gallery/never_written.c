// $ raceproof explore never_written.c --environment uninitialised
// A flag that nobody sets decides what a thread does.
#include <pthread.h>
#include <stdlib.h>

struct job {
    int urgent;
    int size;
};

static int served;

static void *serve(void *arg) {
    struct job *job = arg;
    if (job->urgent)
        served++;
    return NULL;
}

int main(void) {
    struct job *job = malloc(sizeof *job);
    job->size = 3;
    pthread_t thread;
    pthread_create(&thread, NULL, serve, job);
    pthread_join(thread, NULL);
    free(job);
    return 0;
}
