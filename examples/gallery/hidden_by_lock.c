// $ raceproof check hidden_by_lock.c
// The unprotected write usually comes first, and the lock then orders the two. A run in which it does has no race; the
// same events in another order have one.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int configured, started, served;

static void *start_up(void *arg) {
    (void)arg;
    configured = 1;
    pthread_mutex_lock(&lock);
    started++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *serve(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    served++;
    pthread_mutex_unlock(&lock);
    return configured ? arg : NULL;
}

int main(void) {
    pthread_t starter, server;
    pthread_create(&starter, NULL, start_up, NULL);
    pthread_create(&server, NULL, serve, NULL);
    pthread_join(starter, NULL);
    pthread_join(server, NULL);
    printf("%d started, %d served\n", started, served);
    return 0;
}
