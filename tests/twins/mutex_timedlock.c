// A timed lock may time out while another thread holds the mutex.
// Shows: threads: mutexes, with limits
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *arg) {
    (void)arg;
    struct timespec limit = {.tv_sec = 1};
    int result = pthread_mutex_timedlock(&m, &limit);
#ifdef RACY
    if (result == ETIMEDOUT)
        counter--; // RACE!
#endif
    if (result == 0) {
        counter++; // NORACE
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&m);
    counter++; // RACE!
    pthread_mutex_unlock(&m);
    pthread_join(thread, NULL);
    return 0;
}
