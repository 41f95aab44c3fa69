// The older __sync builtins are sequentially consistent.
#include <pthread.h>

static int counter, lock, data;

static void *worker(void *arg) {
    __sync_fetch_and_add(&counter, 1); // NORACE
    if (__sync_bool_compare_and_swap(&lock, 0, 1)) { // NORACE
        data++; // RACE!
        __sync_lock_release(&lock); // NORACE
    }
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
#ifdef RACY
    data--; // RACE!
#endif
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return counter != 2;
}
