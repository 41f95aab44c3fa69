// Semaphores as locks: one in each object, taken through wrappers.
#include <pthread.h>
#include <semaphore.h>

struct store {
    sem_t guard;
    int stock;
    int sold;
};

static struct store store;

static void store_lock(struct store *s) {
    sem_wait(&s->guard);
}

static void store_unlock(struct store *s) {
    sem_post(&s->guard);
}

static void *sell(void *arg) {
    struct store *s = arg;
    store_lock(s);
    s->stock--; // RACE!
    s->sold++; // NORACE
    store_unlock(s);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    sem_init(&store.guard, 0, 1);
    store.stock = 10; // NORACE
    pthread_create(&a, NULL, sell, &store);
    pthread_create(&b, NULL, sell, &store);
#ifdef RACY
    store.stock += 5; // RACE!
#endif
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return store.stock + store.sold; // NORACE
}
