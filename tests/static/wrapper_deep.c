// Wrappers: three layers above the lock function.
#include <pthread.h>

struct os_mutex {
    pthread_mutex_t raw;
};

struct monitor {
    struct os_mutex mutex;
    int depth;
};

static struct monitor monitor = {{PTHREAD_MUTEX_INITIALIZER}, 0};
static int events;

static void os_lock(struct os_mutex *m) {
    pthread_mutex_lock(&m->raw);
}

static void os_unlock(struct os_mutex *m) {
    pthread_mutex_unlock(&m->raw);
}

static void monitor_enter(struct monitor *m) {
    os_lock(&m->mutex);
    m->depth++; // NORACE
}

static void monitor_exit(struct monitor *m) {
    m->depth--; // NORACE
    os_unlock(&m->mutex);
}

static void record(void) {
    monitor_enter(&monitor);
    events++; // RACE!
    monitor_exit(&monitor);
}

static void *worker(void *arg) {
    record();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    record();
#ifdef RACY
    events = 0; // RACE!
#endif
    pthread_join(thread, NULL);
    return events; // NORACE
}
