// mtx_trylock answers thrd_busy; mtx_timedlock answers thrd_timedout.
#include <threads.h>
#include <time.h>

static mtx_t m;
static int counter;

static int worker(void *arg) {
    (void)arg;
    struct timespec limit = {.tv_sec = 1};
    int got = mtx_trylock(&m);
    if (got == thrd_busy)
        got = mtx_timedlock(&m, &limit);
#ifndef RACY
    if (got == thrd_success)
#endif
        counter++; // RACE!
    if (got == thrd_success)
        mtx_unlock(&m);
    return 0;
}

int main(void) {
    thrd_t thread;
    mtx_init(&m, mtx_timed);
    thrd_create(&thread, worker, NULL);
    mtx_lock(&m);
    counter++; // RACE!
    mtx_unlock(&m);
    thrd_join(thread, NULL);
    return 0;
}
