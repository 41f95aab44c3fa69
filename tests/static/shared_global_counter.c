// Shared-variable discovery: a global written by two threads; another one is written by one thread alone.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long requests;
static long main_only;

static void *serve(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    requests++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t server;
    pthread_create(&server, NULL, serve, NULL);
    main_only = 3; // NORACE
    pthread_mutex_lock(&lock);
    requests += main_only; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(server, NULL);
    return requests == 4; // NORACE
}
