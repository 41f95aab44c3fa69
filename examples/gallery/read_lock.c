// $ raceproof check read_lock.c
// A lock held for reading does not protect a write.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int hits;

static void *look_up(void *arg) {
    (void)arg;
    pthread_rwlock_rdlock(&lock);
    hits++;
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, look_up, NULL);
    pthread_create(&two, NULL, look_up, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
