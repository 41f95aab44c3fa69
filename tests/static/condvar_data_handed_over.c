// Condition variables: the data is written before the flag, and read only after the flag was seen.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int is_filled;
static int block[2];

static void *producer(void *arg) {
#ifdef RACY
    pthread_mutex_lock(&lock);
    is_filled = 1; // NORACE
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
#endif
    block[0] = 1; // RACE!
    block[1] = 2; // RACE!
#ifndef RACY
    pthread_mutex_lock(&lock);
    is_filled = 1; // NORACE
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    pthread_mutex_lock(&lock);
    while (!is_filled) // NORACE
        pthread_cond_wait(&filled, &lock);
    pthread_mutex_unlock(&lock);
    int sum = block[0] + block[1]; // RACE!
    pthread_join(thread, NULL);
    return sum;
}
