// A race that shows only in schedules with two preemptions: each thread has to be stopped between its two stores.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int left, right;
static int x;

static void *one(void *arg) {
    (void)arg;
    atomic_store(&left, 1);
    int met = atomic_load(&right);
    atomic_store(&left, 0);
    if (met) x = 1; // RACE!
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, one, 0);
    atomic_store(&right, 1);
    int met = atomic_load(&left);
    atomic_store(&right, 0);
    if (met) x = 2; // RACE!
    pthread_join(thread, 0);
    return 0;
}
