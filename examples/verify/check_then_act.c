// CheckThenAct of the paper's table 1: any number of threads change the data under a lock,
// others look at it without.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int data;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *change(void *arg) {
    pthread_mutex_lock(&lock);
    data = data + 1; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *look(void *arg) {
    if (data > 3) // RACE!
        puts("much");
    else
        puts("little");
    return arg;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, change, 0);
        pthread_create(&thread, 0, look, 0);
    }
    return 0;
}
