// A function is missing: it returns an object from somewhere.
#include <pthread.h>

struct plugin {
    int calls;
};

struct plugin *find_plugin(int id);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void call(int id) {
    struct plugin *p = find_plugin(id);
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    p->calls++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
}

static void *worker(void *arg) {
    call(1);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    call(1);
    pthread_join(thread, NULL);
    return 0;
}

#ifdef MODEL
static struct plugin the_plugin;
struct plugin *find_plugin(int id) {
    return id ? &the_plugin : NULL;
}
#endif
