// Barriers: main takes part, prepares before and collects behind the barrier.
#include <pthread.h>

static pthread_barrier_t start;
static int input, output;

static void *worker(void *arg) {
    pthread_barrier_wait(&start);
    output = input + 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&thread, NULL, worker, NULL);
#ifndef RACY
    input = 41; // NORACE
#endif
    pthread_barrier_wait(&start);
#ifdef RACY
    input = 41; // RACE!
#endif
    pthread_join(thread, NULL);
    return output; // NORACE
}
