// Arrays of locks: resizing holds every stripe; the loop takes all locks before the data is touched.
#include <pthread.h>

#define STRIPES 2
static pthread_mutex_t stripes[STRIPES] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int capacity = 4;

static void *reader(void *arg) {
    int *out = arg;
    pthread_mutex_lock(&stripes[1]);
    *out = capacity; // RACE!
    pthread_mutex_unlock(&stripes[1]);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int seen;
    pthread_create(&thread, NULL, reader, &seen);
#ifdef RACY
    pthread_mutex_lock(&stripes[0]);
    capacity *= 2; // RACE!
    pthread_mutex_unlock(&stripes[0]);
#else
    pthread_mutex_lock(&stripes[0]);
    pthread_mutex_lock(&stripes[1]);
    capacity *= 2; // NORACE
    pthread_mutex_unlock(&stripes[1]);
    pthread_mutex_unlock(&stripes[0]);
#endif
    pthread_join(thread, NULL);
    return seen + capacity; // NORACE
}
