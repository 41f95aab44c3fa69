// Shared-variable discovery: the update happens at the end of a chain of pointer copies.
#include <pthread.h>

struct config {
    int level;
    int timeout;
};

static struct config config = {1, 30};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void set_level(struct config *c, int level) {
    struct config *p = c;
    struct config *q = p;
    q->level = level; // RACE!
}

static void *admin(void *arg) {
    struct config *mine = &config;
    pthread_mutex_lock(&lock);
    set_level(mine, 5);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    int seen;
    pthread_create(&thread, NULL, admin, NULL);
#ifdef RACY
    seen = config.level; // RACE!
#else
    pthread_mutex_lock(&lock);
    seen = config.level; // NORACE
    pthread_mutex_unlock(&lock);
#endif
    seen += config.timeout; // NORACE
    pthread_join(thread, NULL);
    return seen;
}
