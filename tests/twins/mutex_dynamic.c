// A lock inside each object protects that object only.
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account *a, *b;

static void *worker(void *arg) {
    (void)arg;
#ifdef RACY
    pthread_mutex_lock(&b->lock);
    a->balance++; // RACE!
    pthread_mutex_unlock(&b->lock);
#else
    pthread_mutex_lock(&a->lock);
    a->balance++;
    pthread_mutex_unlock(&a->lock);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    a = calloc(1, sizeof *a);
    b = calloc(1, sizeof *b);
    pthread_mutex_init(&a->lock, NULL);
    pthread_mutex_init(&b->lock, NULL);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&a->lock);
    a->balance++; // RACE!
    pthread_mutex_unlock(&a->lock);
    pthread_join(thread, NULL);
    pthread_mutex_destroy(&a->lock);
    pthread_mutex_destroy(&b->lock);
    free(a);
    free(b);
    return 0;
}
