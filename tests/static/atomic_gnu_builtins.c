// Atomics: the __atomic and __sync functions of the compiler on plain variables.
#include <pthread.h>

static long allocated;
static int lock_word, freed;

static void *worker(void *arg) {
    __atomic_add_fetch(&allocated, 64, __ATOMIC_SEQ_CST); // RACE!
    if (__sync_bool_compare_and_swap(&lock_word, 0, 1)) { // NORACE
        freed++; // NORACE
        __sync_lock_release(&lock_word); // NORACE
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    allocated += 32; // RACE!
#else
    __atomic_add_fetch(&allocated, 32, __ATOMIC_SEQ_CST); // NORACE
#endif
    pthread_join(thread, NULL);
    return (int)allocated + freed; // NORACE
}
