// C11 threads and mutexes.
// Shows: threads: C11 threads
#include <threads.h>

static mtx_t m;
static int counter;

static int worker(void *arg) {
    (void)arg;
#ifdef RACY
    counter++; // RACE!
#else
    mtx_lock(&m);
    counter++;
    mtx_unlock(&m);
#endif
    return 3;
}

int main(void) {
    thrd_t thread;
    int result;
    mtx_init(&m, mtx_plain);
    thrd_create(&thread, worker, NULL);
    mtx_lock(&m);
    counter++; // RACE!
    mtx_unlock(&m);
    thrd_join(thread, &result);
    mtx_destroy(&m);
    return result != 3;
}
