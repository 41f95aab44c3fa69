// What a waiting loop read before the flag is used after it: the old value is possible.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int first, second;
static int shared;

static void *worker(void *arg) {
#ifdef RACY
    first = 1;
#endif
    second = 1;
    shared = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    int seen;
    first = 1;
#ifdef RACY
    first = 0;
#endif
    pthread_create(&thread, NULL, worker, NULL);
    do
        seen = first;
    while (!second);
    if (!seen)
        shared = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
