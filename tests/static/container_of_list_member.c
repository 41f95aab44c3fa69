// container_of: from the list link inside an object back to the object and its lock.
#include <pthread.h>
#include <stddef.h>

#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

struct link {
    struct link *next;
};

struct item {
    int id;
    pthread_mutex_t lock;
    struct link link;
    int uses;
};

static struct item b = {2, PTHREAD_MUTEX_INITIALIZER, {NULL}, 0};
static struct item a = {1, PTHREAD_MUTEX_INITIALIZER, {&b.link}, 0};

static void use_all(struct link *head) {
    for (struct link *l = head; l != NULL; l = l->next) { // NORACE
        struct item *i = container_of(l, struct item, link);
        pthread_mutex_lock(&i->lock);
        i->uses += i->id; // RACE!
        pthread_mutex_unlock(&i->lock);
    }
}

static void *worker(void *arg) {
    use_all(arg);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &a.link);
    use_all(&a.link);
#ifdef RACY
    b.uses = 0; // RACE!
#endif
    pthread_join(thread, NULL);
    return a.uses + b.uses; // NORACE
}
