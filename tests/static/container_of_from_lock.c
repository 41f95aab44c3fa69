// container_of: from the lock itself to the data beside it.
#include <pthread.h>
#include <stddef.h>

#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

struct box {
    int content;
    pthread_mutex_t lock;
};

static struct box box = {0, PTHREAD_MUTEX_INITIALIZER};
static struct box spare = {0, PTHREAD_MUTEX_INITIALIZER};

static void fill(pthread_mutex_t *lock) {
    struct box *b = container_of(lock, struct box, lock);
    pthread_mutex_lock(lock);
    b->content++; // RACE!
    pthread_mutex_unlock(lock);
}

static void *worker(void *arg) {
    fill(arg);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &box.lock);
#ifdef RACY
    pthread_mutex_lock(&spare.lock);
    box.content--; // RACE!
    pthread_mutex_unlock(&spare.lock);
#else
    pthread_mutex_lock(&box.lock);
    box.content--; // NORACE
    pthread_mutex_unlock(&box.lock);
#endif
    pthread_join(thread, NULL);
    return box.content + spare.content; // NORACE
}
