// Join loops: the array of threads is global and the joins are in another function.
#include <pthread.h>

#define WORKERS 2
static pthread_t workers[WORKERS];
static int checksum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
    pthread_mutex_lock(&lock);
    checksum ^= 3; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

static void start_all(void) {
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL); // NORACE
}

static void join_all(void) {
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL); // NORACE
}

int main(void) {
    start_all();
#ifdef RACY
    int seen = checksum; // RACE!
    join_all();
#else
    join_all();
    int seen = checksum; // NORACE
#endif
    return seen;
}
