// Steensgaard partitions: locks chosen from a constant table by a constant index.
#include <pthread.h>

static pthread_mutex_t read_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *const locks[2] = {&read_lock, &write_lock};
static int pending;

static void *producer(void *arg) {
    pthread_mutex_lock(locks[1]);
    pending++; // RACE!
    pthread_mutex_unlock(locks[1]);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
#ifdef RACY
    pthread_mutex_lock(locks[0]);
    pending--; // RACE!
    pthread_mutex_unlock(locks[0]);
#else
    pthread_mutex_lock(locks[1]);
    pending--; // NORACE
    pthread_mutex_unlock(locks[1]);
#endif
    pthread_join(thread, NULL);
    return pending; // NORACE
}
