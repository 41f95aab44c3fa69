// A thread that reads twice waits for a preferred writer, which waits for its first hold.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static int data;

static void *write_it(void *arg) {
    pthread_rwlock_wrlock(&lock); // DEADLOCK
    data = 1;
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, write_it, NULL);
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_rdlock(&lock); // DEADLOCK
    int seen = data;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    return seen;
}
