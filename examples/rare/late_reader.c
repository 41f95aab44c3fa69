// A result is published under a lock, but a statistic beside it is not. The reader comes so late that the lock always
// orders the two.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t results = PTHREAD_MUTEX_INITIALIZER;
static int log_lines;
static int statistic;

static void *worker(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&results);
    statistic = 42;
#else
    statistic = 42;
    pthread_mutex_lock(&results);
#endif
    log_lines++;
    pthread_mutex_unlock(&results);
    return unused;
}

static void *reporter(void *unused) {
    usleep(30000);
    pthread_mutex_lock(&results);
    log_lines++;
#ifdef FIXED
    int seen = statistic;
    pthread_mutex_unlock(&results);
    return (void *)(long)(seen != 0);
#else
    pthread_mutex_unlock(&results);
    return (void *)(long)(statistic != 0);
#endif
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, worker, 0);
    pthread_create(&threads[1], 0, reporter, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
