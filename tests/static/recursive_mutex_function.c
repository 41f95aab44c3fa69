// Recursive mutexes: a recursive function takes the lock on every level.
#include <pthread.h>

static pthread_mutex_t lock;
static int visited;

static void walk(int level) {
#ifdef RACY
    visited++; // RACE!
#endif
    pthread_mutex_lock(&lock);
    visited++; // RACE!
    if (level > 0)
        walk(level - 1);
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    walk(1);
    return arg;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
    pthread_create(&thread, NULL, worker, NULL);
    walk(1);
    pthread_join(thread, NULL);
    return visited; // NORACE
}
