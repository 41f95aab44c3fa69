#include "count.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

void count_unlocked(void) {
    count += STEP;
}

void count_locked(void) {
    pthread_mutex_lock(&lock);
    count += STEP;
    pthread_mutex_unlock(&lock);
}

int counted(void) {
    pthread_mutex_lock(&lock);
    int now = count;
    pthread_mutex_unlock(&lock);
    return now;
}
