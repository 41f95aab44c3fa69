// May happen in parallel: one create site, reached by two calls.
#include <pthread.h>

static int total;

static void *count(void *arg) {
    total += *(int *)arg; // RACE!
    return NULL;
}

static pthread_t start(int *amount) {
    pthread_t thread;
    pthread_create(&thread, NULL, count, amount);
    return thread;
}

int main(void) {
    int one = 1, two = 2;
    pthread_t a = start(&one);
#ifndef RACY
    pthread_join(a, NULL);
#endif
    pthread_t b = start(&two);
#ifdef RACY
    pthread_join(a, NULL);
#endif
    pthread_join(b, NULL);
    return total; // NORACE
}
