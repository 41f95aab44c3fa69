// pthread_timedjoin_np stores the exit value where its argument says.
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static void *result;

static void *finish(void *arg) {
    return arg;
}

static void *collect(void *arg) {
    struct timespec limit = {1, 0};
    pthread_timedjoin_np(*(pthread_t *)arg, &result, &limit); // RACE!
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
