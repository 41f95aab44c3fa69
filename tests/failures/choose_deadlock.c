// The order of the locks is chosen; one choice can deadlock.
#include <pthread.h>
#include <raceproof.h>

static pthread_mutex_t lock[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *worker(void *arg) {
    int first = (int)raceproof_choose(0, 1);
    pthread_mutex_lock(&lock[first]);
    pthread_mutex_lock(&lock[1 - first]); // DEADLOCK
    pthread_mutex_unlock(&lock[1 - first]);
    pthread_mutex_unlock(&lock[first]);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&lock[0]);
    pthread_mutex_lock(&lock[1]); // DEADLOCK
    pthread_mutex_unlock(&lock[1]);
    pthread_mutex_unlock(&lock[0]);
    pthread_join(thread, NULL);
    return 0;
}
