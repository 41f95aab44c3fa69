// Counter of the paper's table 1: any number of threads increment a counter without a lock.
#include <pthread.h>
#include <stdlib.h>

static int counter;

static void *increment(void *arg) {
    counter = counter + 1; // RACE!
    return arg;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, increment, 0);
    }
    return 0;
}
