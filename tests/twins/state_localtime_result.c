// What localtime returned is overwritten by the next call, in any thread: a lock around the call alone is not enough.
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    time_t now = 1000;
    pthread_mutex_lock(&lock);
    struct tm *broken_down = localtime(&now); // RACE!
#ifdef RACY
    pthread_mutex_unlock(&lock);
    int year = broken_down->tm_year; // RACE!
#else
    int year = broken_down->tm_year;
    pthread_mutex_unlock(&lock);
#endif
    return year ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
