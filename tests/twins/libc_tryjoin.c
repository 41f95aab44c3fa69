// pthread_tryjoin_np stores the exit value where its argument says, if the thread has ended.
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static void *result;

static void *finish(void *arg) {
    return arg;
}

static void *collect(void *arg) {
    pthread_tryjoin_np(*(pthread_t *)arg, &result); // RACE!
    return arg;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, finish, &result);
    pthread_create(&second, NULL, collect, &first);
#ifdef RACY
    void *seen = result; // RACE!
    pthread_join(second, NULL);
#else
    pthread_join(second, NULL);
    void *seen = result;
#endif
    return seen == &first;
}
