// One race, and nothing else.
#include <pthread.h>

static int shared;

static void *work(void *arg) {
    shared++;
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    shared++;
    pthread_join(thread, NULL);
    return 0;
}
