// $ raceproof explore interrupted.c
// A handler resets a counter that the thread it interrupts is counting up.
#include <pthread.h>
#include <signal.h>

static int requests;

static void reset(int signal) {
    requests = 0;
}

static void *serve(void *arg) {
    for (int i = 0; i < 3; i++)
        requests++;
    return NULL;
}

int main(void) {
    pthread_t thread;
    signal(SIGHUP, reset);
    pthread_create(&thread, NULL, serve, NULL);
    pthread_kill(thread, SIGHUP);
    pthread_join(thread, NULL);
    return 0;
}
