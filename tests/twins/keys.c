// Thread-specific values are each thread's own; destructors run in the thread, before it is joined.
// Shows: threads: thread-specific data and its destructors
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static int destroyed;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void destroy(void *value) {
    free(value);
#ifdef RACY
    destroyed++; // RACE!
#else
    pthread_mutex_lock(&m);
    destroyed++;
    pthread_mutex_unlock(&m);
#endif
}

static void *worker(void *arg) {
    int *mine = malloc(sizeof *mine);
    *mine = 1; // NORACE
    pthread_setspecific(key, mine);
    *(int *)pthread_getspecific(key) += 1; // NORACE
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_key_create(&key, destroy);
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    pthread_key_delete(key);
    pthread_mutex_destroy(&m);
    return destroyed != 2;
}
