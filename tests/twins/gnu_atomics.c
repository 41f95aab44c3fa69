// GNU atomic builtins on plain objects: all accesses have to use them.
// Shows: threads: atomic builtins of compilers
#include <pthread.h>

static int flag, data;

static void *producer(void *arg) {
    data = 1; // NORACE
#ifdef RACY
    flag = 1; // RACE!
#else
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    int seen = __atomic_load_n(&flag, __ATOMIC_ACQUIRE); // RACE!
#ifndef RACY
    if (seen)
        data = 2;
#endif
    pthread_join(thread, NULL);
    return seen == 9;
}
