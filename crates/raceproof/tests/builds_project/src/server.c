#include "count.h"

#include <pthread.h>
#include <stdio.h>

static void *work(void *arg) {
    count_unlocked();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    count_unlocked();
    pthread_join(thread, NULL);
    printf("%d\n", counted());
    return 0;
}
