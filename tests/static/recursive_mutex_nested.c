// Recursive mutexes: the inner unlock does not release the lock, the outer one does.
#include <pthread.h>

static pthread_mutex_t lock;
static int depth, entries;

static void note(void) {
    pthread_mutex_lock(&lock);
    depth++; // NORACE
    pthread_mutex_unlock(&lock);
}

static void visit(void) {
    pthread_mutex_lock(&lock);
    note();
#ifndef RACY
    entries++; // NORACE
#endif
    pthread_mutex_unlock(&lock);
#ifdef RACY
    entries++; // RACE!
#endif
}

static void *worker(void *arg) {
    visit();
    return arg;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
    pthread_create(&thread, NULL, worker, NULL);
    visit();
    pthread_join(thread, NULL);
    return depth + entries; // NORACE
}
