// Steensgaard partitions: one helper takes either lock, so both are in one partition; the contexts tell them apart.
#include <pthread.h>

static pthread_mutex_t a_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b_lock = PTHREAD_MUTEX_INITIALIZER;
static int a_data, b_data;

static void add(pthread_mutex_t *lock, int *data, int amount) {
    pthread_mutex_t *l = lock;
    pthread_mutex_lock(l);
    *data += amount; // RACE!
    pthread_mutex_unlock(l);
}

static void *worker(void *arg) {
    add(&a_lock, &a_data, 1);
    add(&b_lock, &b_data, 2);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    add(&b_lock, &a_data, 3);
#else
    add(&a_lock, &a_data, 3);
#endif
    add(&b_lock, &b_data, 4);
    pthread_join(thread, NULL);
    return a_data + b_data; // NORACE
}
