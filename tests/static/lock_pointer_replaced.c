// Lock pointers in structures: replacing the lock while others use it makes two locks of one.
#include <pthread.h>

struct channel {
    pthread_mutex_t *lock;
    int messages;
};

static pthread_mutex_t old_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t new_lock = PTHREAD_MUTEX_INITIALIZER;
static struct channel channel = {&old_lock, 0};

static void *post(void *arg) {
    struct channel *c = arg;
    pthread_mutex_t *lock = c->lock; // RACE!
    pthread_mutex_lock(lock);
    c->messages++; // RACE!
    pthread_mutex_unlock(lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
#ifndef RACY
    channel.lock = &new_lock; // NORACE
#endif
    pthread_create(&thread, NULL, post, &channel);
#ifdef RACY
    pthread_mutex_lock(&old_lock);
    channel.lock = &new_lock; // RACE!
    pthread_mutex_unlock(&old_lock);
    pthread_mutex_lock(&new_lock);
    channel.messages++; // RACE!
    pthread_mutex_unlock(&new_lock);
#else
    pthread_mutex_lock(&new_lock);
    channel.messages++; // NORACE
    pthread_mutex_unlock(&new_lock);
#endif
    pthread_join(thread, NULL);
    return channel.messages; // NORACE
}
