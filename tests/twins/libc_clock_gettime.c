// clock_gettime writes the time where its argument says; the field beside it is somebody else's.
// Shows: time: `time`, `clock_gettime` and similar calls: they start at a fixed moment and advance with sleeps and limits
#include <pthread.h>
#include <time.h>

static struct {
    struct timespec now;
    int other;
} shared;

static void *worker(void *arg) {
    clock_gettime(CLOCK_MONOTONIC, &shared.now); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    shared.now.tv_nsec = 1; // RACE!
#else
    shared.other = 1;
#endif
    pthread_join(thread, NULL);
    return 0;
}
