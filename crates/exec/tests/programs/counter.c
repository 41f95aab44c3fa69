// Two threads add to a counter without a lock.
#include "rp.h"
#include <pthread.h>
#include <stdio.h>

int counter;

static void *add(void *arg) {
    for (int i = 0; i < 3; i++)
        STORE(counter, LOAD(counter) + 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    AT(pthread_create(&a, 0, add, 0));
    AT(pthread_create(&b, 0, add, 0));
    AT(pthread_join(a, 0));
    AT(pthread_join(b, 0));
    AT(printf("counter = %d\n", LOAD(counter)));
    return 0;
}
