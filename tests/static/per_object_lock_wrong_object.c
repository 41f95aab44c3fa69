// Per-object locks: the lock of one object does not protect another one of the same type.
#include <pthread.h>

struct counter {
    pthread_mutex_t lock;
    long value;
    struct counter *peer;
};

static struct counter left = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct counter right = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *count(void *arg) {
    struct counter *c = arg;
    pthread_mutex_lock(&c->lock);
    c->value++; // RACE!
#ifdef RACY
    c->peer->value++; // RACE!
#endif
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    left.peer = &right; // NORACE
    right.peer = &left; // NORACE
    pthread_create(&a, NULL, count, &left);
    pthread_create(&b, NULL, count, &right);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return left.value + right.value; // NORACE
}
