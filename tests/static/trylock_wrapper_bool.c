// Trylock: a wrapper turns the result round: true is held.
#include <pthread.h>
#include <stdbool.h>

struct gate {
    pthread_mutex_t lock;
    int passed;
};

static struct gate gate = {PTHREAD_MUTEX_INITIALIZER, 0};

static bool try_enter(struct gate *g) {
    return pthread_mutex_trylock(&g->lock) == 0;
}

static void *visitor(void *arg) {
    struct gate *g = arg;
#ifdef RACY
    bool inside = try_enter(g);
    g->passed++; // RACE!
    if (inside)
        pthread_mutex_unlock(&g->lock);
#else
    if (try_enter(g)) {
        g->passed++; // NORACE
        pthread_mutex_unlock(&g->lock);
    }
#endif
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, visitor, &gate);
    pthread_create(&b, NULL, visitor, &gate);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return gate.passed; // NORACE
}
