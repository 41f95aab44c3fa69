// putchar_unlocked uses standard output without its lock.
#include <pthread.h>
#include <stdio.h>

static void *worker(void *arg) {
#ifdef RACY
    putchar_unlocked('\n'); // RACE!
#else
    putchar('\n');
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
