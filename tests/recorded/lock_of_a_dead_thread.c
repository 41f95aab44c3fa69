// Who gets the lock of a thread that has ended comes after it.
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int data;

static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    data++; // RACE!
    return unused;
}

int main(void) {
    pthread_mutexattr_t robust;
    pthread_t thread;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &robust);
    pthread_create(&thread, NULL, worker, NULL);
#ifndef RACY
    while (pthread_mutex_lock(&mutex) != EOWNERDEAD) pthread_mutex_unlock(&mutex);
#endif
    data++; // RACE!
#ifndef RACY
    pthread_mutex_consistent(&mutex);
    pthread_mutex_unlock(&mutex);
#endif
    pthread_join(thread, NULL);
    return 0;
}
