// Must-alias: the same function at the same depth with different locks; contexts must not be merged.
#include <pthread.h>

struct cell {
    int value;
};

static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cell left, right;

static void update(pthread_mutex_t *m, struct cell *c) {
    pthread_mutex_lock(m);
    c->value++; // RACE!
    pthread_mutex_unlock(m);
}

static void middle(pthread_mutex_t *m, struct cell *c) {
    update(m, c);
}

static void outer(int which) {
    if (which)
        middle(&left_lock, &left);
    else
        middle(&right_lock, &right);
}

static void *worker(void *arg) {
    outer(1);
    outer(0);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    middle(&right_lock, &left);
#else
    outer(1);
#endif
    pthread_join(thread, NULL);
    return left.value + right.value; // NORACE
}
