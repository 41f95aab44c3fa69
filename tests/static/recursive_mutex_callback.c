// Recursive mutexes: a listener calls back into the object that is already locked.
#include <pthread.h>

struct model {
    pthread_mutex_t lock;
    int value;
    int notifications;
    void (*listener)(struct model *);
};

static struct model model;

static int get(struct model *m) {
    pthread_mutex_lock(&m->lock);
    int value = m->value; // RACE!
    pthread_mutex_unlock(&m->lock);
    return value;
}

static void on_change(struct model *m) {
    m->notifications += get(m); // NORACE
}

static void set(struct model *m, int value) {
    pthread_mutex_lock(&m->lock);
    m->value = value; // RACE!
    m->listener(m);
    pthread_mutex_unlock(&m->lock);
#ifdef RACY
    m->value++; // RACE!
#endif
}

static void *worker(void *arg) {
    set(arg, 2);
    return NULL;
}

int main(void) {
    pthread_mutexattr_t recursive;
    pthread_t thread;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&model.lock, &recursive);
    model.listener = on_change; // NORACE
    pthread_create(&thread, NULL, worker, &model);
    set(&model, 1);
    pthread_join(thread, NULL);
    return model.notifications; // NORACE
}
