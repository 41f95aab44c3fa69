// errno is each thread's own and survives switches.
#include <errno.h>
#include <pthread.h>
#include <sched.h>

static int shared;

static void *worker(void *arg) {
    errno = 7; // NORACE
    sched_yield();
#ifdef RACY
    shared = errno; // RACE!
#endif
    return errno == 7 ? NULL : arg; // NORACE
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, worker, &shared);
    errno = 9; // NORACE
    sched_yield();
    shared = errno; // RACE!
    pthread_join(thread, &result);
    return result != NULL || errno != 9;
}
