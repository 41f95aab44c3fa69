// A reader-writer lock acquired with a limit on a clock protects only when it was acquired.
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int data;

static void *reader(void *arg) {
    struct timespec limit = {.tv_sec = 1 << 30};
    int held = pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &limit) == 0;
    if (held)
        arg = data ? arg : NULL; // RACE!
    if (held)
        pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    struct timespec limit = {.tv_sec = 1 << 30};
    pthread_create(&thread, NULL, reader, NULL);
    int held = pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &limit) == 0;
#ifdef RACY
    data++; // RACE!
#else
    if (held)
        data++;
#endif
    if (held)
        pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
