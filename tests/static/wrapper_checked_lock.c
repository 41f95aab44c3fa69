// Wrappers: the wrapper checks what the lock function returns and gives up the program on an error.
#include <pthread.h>
#include <stdlib.h>

struct mutex {
    pthread_mutex_t raw;
    const char *name;
};

static struct mutex state_lock = {PTHREAD_MUTEX_INITIALIZER, "state"};
static int state;

static void mutex_lock(struct mutex *m) {
    int error = pthread_mutex_lock(&m->raw);
    if (error != 0)
        abort();
}

static void mutex_unlock(struct mutex *m) {
    if (pthread_mutex_unlock(&m->raw) != 0)
        abort();
}

static void *worker(void *arg) {
    mutex_lock(&state_lock);
    state = 1; // RACE!
    mutex_unlock(&state_lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifndef RACY
    mutex_lock(&state_lock);
#endif
    int seen = state; // RACE!
#ifndef RACY
    mutex_unlock(&state_lock);
#endif
    pthread_join(thread, NULL);
    return seen;
}
