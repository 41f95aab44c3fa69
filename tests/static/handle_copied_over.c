// A handle is copied over another one: the thread that was stored there is not the one that is joined.
#include <pthread.h>

static int x, y;

static void *first(void *arg) {
    (void)arg;
    x++; // RACE!
    return NULL;
}

static void *second(void *arg) {
    (void)arg;
    y++; // NORACE
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
#ifndef RACY
    pthread_join(one, NULL);
#endif
    one = two;
    pthread_join(one, NULL);
    x++; // RACE!
    return y; // NORACE
}
