// Field by field: the statistics of a structure are locked, its configuration is written before the threads start.
#include <pthread.h>

struct service {
    pthread_mutex_t lock;
    int port;
    int backlog;
    long served;
    long failed;
};

static struct service service = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *handle(void *arg) {
    struct service *s = arg;
    int backlog = s->port > 1024 ? s->backlog : 1; // NORACE
    pthread_mutex_lock(&s->lock);
    s->served += backlog; // NORACE
#ifndef RACY
    s->failed++; // NORACE
#endif
    pthread_mutex_unlock(&s->lock);
#ifdef RACY
    s->failed++; // RACE!
#endif
    return NULL;
}

int main(void) {
    pthread_t a, b;
    service.port = 8080; // NORACE
    service.backlog = 4; // NORACE
    pthread_create(&a, NULL, handle, &service);
    pthread_create(&b, NULL, handle, &service);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return service.served != 8 || service.failed != 2; // NORACE
}
