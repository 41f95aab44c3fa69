// A result is published under a lock, but a statistic beside it is not. The reader comes so late that the lock always
// orders the two.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t results = PTHREAD_MUTEX_INITIALIZER;
static int log_lines;
static int statistic;

static void *worker(void *unused) {
    statistic = 42;
    pthread_mutex_lock(&results);
    log_lines++;
    pthread_mutex_unlock(&results);
    return unused;
}

static void *reporter(void *unused) {
    usleep(30000);
    pthread_mutex_lock(&results);
    log_lines++;
    pthread_mutex_unlock(&results);
    return (void *)(long)(statistic != 0);
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, worker, 0);
    pthread_create(&threads[1], 0, reporter, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
