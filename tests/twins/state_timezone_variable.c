// tzset locks what it does, but whoever reads timezone does not take that lock.
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static void *worker(void *arg) {
    tzset(); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    tzset();
#ifdef RACY
    long west = timezone; // RACE!
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    long west = timezone;
#endif
    (void)west;
    return 0;
}
