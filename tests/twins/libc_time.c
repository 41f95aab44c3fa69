// localtime answers in a buffer shared by all threads; localtime_r in the caller's.
#include <pthread.h>
#include <time.h>

static void *worker(void *arg) {
    time_t now = 1000;
#ifdef RACY
    return localtime(&now) ? arg : NULL; // RACE!
#else
    struct tm mine;
    return localtime_r(&now, &mine) ? arg : NULL;
#endif
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
