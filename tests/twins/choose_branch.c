// One of the values that the thread may choose leads to an access without the lock.
// Shows: input: values that the program leaves open (`raceproof_choose`)
#include <pthread.h>
#include <raceproof.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *worker(void *arg) {
    long chosen = raceproof_choose(3, 7);
#ifdef RACY
    if (chosen == 6) {
        shared = 1; // RACE!
        return arg;
    }
#endif
    pthread_mutex_lock(&lock);
    shared = (int)chosen;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    shared = 2; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
