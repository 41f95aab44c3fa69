// Join by wrapper: the wrapper aborts when the join fails, so behind it the thread has ended.
#include <pthread.h>
#include <stdlib.h>

static int output;

static void *run(void *arg) {
    output = 1; // RACE!
    return arg;
}

static void must_join(pthread_t thread) {
    if (pthread_join(thread, NULL) != 0)
        abort();
}

static void must_create(pthread_t *thread, void *(*f)(void *)) {
    if (pthread_create(thread, NULL, f, NULL) != 0)
        abort();
}

int main(void) {
    pthread_t thread;
    must_create(&thread, run);
#ifdef RACY
    output++; // RACE!
#endif
    must_join(thread);
    output++; // NORACE
    return output; // NORACE
}
