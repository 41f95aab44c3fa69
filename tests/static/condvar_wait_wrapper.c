// Condition variables: the wait is inside a wrapper that is called with the lock held.
#include <pthread.h>

struct event {
    pthread_mutex_t lock;
    pthread_cond_t raised;
    int is_set;
    int waiters;
};

static struct event event = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static void wait_locked(struct event *e) {
    e->waiters++; // RACE!
    while (!e->is_set) // NORACE
        pthread_cond_wait(&e->raised, &e->lock);
    e->waiters--; // NORACE
}

static void *waiter(void *arg) {
    struct event *e = arg;
    pthread_mutex_lock(&e->lock);
    wait_locked(e);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int waiting;
    pthread_create(&thread, NULL, waiter, &event);
#ifdef RACY
    waiting = event.waiters; // RACE!
    pthread_mutex_lock(&event.lock);
#else
    pthread_mutex_lock(&event.lock);
    waiting = event.waiters; // NORACE
#endif
    event.is_set = 1; // NORACE
    pthread_cond_broadcast(&event.raised);
    pthread_mutex_unlock(&event.lock);
    pthread_join(thread, NULL);
    return waiting;
}
