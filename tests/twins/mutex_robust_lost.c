// A robust mutex that is given back without being repaired cannot be taken any more: it protects nothing then.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int data;

static void *ends_as_owner(void *arg) {
    pthread_mutex_lock(&mutex);
    return arg;
}

static void *use(void *arg) {
    int result = pthread_mutex_lock(&mutex);
#ifdef RACY
    data++; // RACE!
    if (result != ENOTRECOVERABLE)
        pthread_mutex_unlock(&mutex);
#else
    if (result != ENOTRECOVERABLE) {
        data++;
        pthread_mutex_unlock(&mutex);
    }
#endif
    return arg;
}

int main(void) {
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &robust);
    pthread_t first, second;
    pthread_create(&first, NULL, ends_as_owner, NULL);
    pthread_join(first, NULL);
    assert(pthread_mutex_lock(&mutex) == EOWNERDEAD);
    pthread_mutex_unlock(&mutex);
    pthread_create(&second, NULL, use, NULL);
    use(NULL);
    pthread_join(second, NULL);
    assert(pthread_mutex_trylock(&mutex) == ENOTRECOVERABLE);
    pthread_mutex_destroy(&mutex);
    return 0;
}
