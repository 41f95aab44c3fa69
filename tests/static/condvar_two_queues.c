// Condition variables: two conditions on one lock.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static int slot, full;

static void *producer(void *arg) {
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&lock);
        while (full) // NORACE
            pthread_cond_wait(&not_full, &lock);
        slot = i; // RACE!
        full = 1; // NORACE
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        while (!full) // NORACE
            pthread_cond_wait(&not_empty, &lock);
#ifndef RACY
        sum += slot; // NORACE
#endif
        full = 0; // NORACE
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
#ifdef RACY
        sum += slot; // RACE!
#endif
    }
    pthread_join(thread, NULL);
    return sum;
}
