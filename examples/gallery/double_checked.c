// $ raceproof check double_checked.c
// The fast path of lazy initialisation reads without the lock.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static int table;

static int look_up(void) {
    if (!ready) {
        pthread_mutex_lock(&lock);
        if (!ready) {
            table = 42;
            ready = 1;
        }
        pthread_mutex_unlock(&lock);
    }
    return table;
}

static void *user(void *arg) {
    (void)arg;
    look_up();
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, user, NULL);
    pthread_create(&two, NULL, user, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
