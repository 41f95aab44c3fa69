// localtime looks the time zone up in the environment.
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static void *worker(void *arg) {
    time_t now = 1000;
    struct tm mine;
    return localtime_r(&now, &mine) ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
#ifndef RACY
    setenv("TZ", "UTC0", 1);
#endif
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    setenv("TZ", "UTC0", 1); // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
