// Arrays of locks: the stripe is computed from the key on both sides, or from different keys.
#include <pthread.h>

#define STRIPES 4
static pthread_mutex_t stripes[STRIPES] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                           PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int values[STRIPES];

static void put(int key, int value) {
    int i = key % STRIPES;
    pthread_mutex_lock(&stripes[i]);
    values[i] = value; // RACE!
    pthread_mutex_unlock(&stripes[i]);
}

static void drop(int key) {
    int i = key % STRIPES;
#ifdef RACY
    int s = (key + 1) % STRIPES;
#else
    int s = i;
#endif
    pthread_mutex_lock(&stripes[s]);
    values[i] = 0; // RACE!
    pthread_mutex_unlock(&stripes[s]);
}

static void *worker(void *arg) {
    put(5, 50);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    drop(5);
    pthread_join(thread, NULL);
    return values[1]; // NORACE
}
