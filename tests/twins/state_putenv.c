// putenv makes the caller's string part of the environment: to change the string is to change the environment.
#include <pthread.h>
#include <stdlib.h>

static char string[] = "TWIN_VARIABLE=1";

static void *worker(void *arg) {
    return getenv("TWIN_VARIABLE") ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    putenv(string);
#ifndef RACY
    string[0] = 'S';
#endif
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    string[0] = 'S'; // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
