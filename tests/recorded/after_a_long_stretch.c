// What follows a synchronisation is logged again, also after a long stretch.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static int cells[100000], data;
static atomic_int go, come;

static void stretch(void) {
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 100000; i++) cells[i]++;
}

static void *worker(void *unused) {
    stretch();
    data = 1;
    atomic_store(&go, 1);
    while (!atomic_load(&come)) sched_yield();
#ifdef RACY
    data = 3; // RACE!
#endif
    stretch();
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    while (!atomic_load(&go)) sched_yield();
    data = 2;
    atomic_store(&come, 1);
#ifdef RACY
    data = 4; // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
