// Who takes a robust mutex after its owner has ended is told so, owns it, and comes after all that the owner did.
// Shows: threads: robust mutexes, within the program
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int data;

static void *ends_as_owner(void *arg) {
    pthread_mutex_lock(&mutex);
    data = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setprotocol(&robust, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex, &robust);
    pthread_t thread;
    pthread_create(&thread, NULL, ends_as_owner, NULL);
#ifdef RACY
    data = 2; // RACE!
#endif
    int result = pthread_mutex_lock(&mutex);
    if (result == EOWNERDEAD) {
        assert(data == 1);
        assert(pthread_mutex_consistent(&mutex) == 0);
    } else {
        assert(result == 0 && pthread_mutex_consistent(&mutex) == EINVAL);
    }
    data = 3;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
