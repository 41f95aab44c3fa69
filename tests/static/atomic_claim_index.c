// Atomics: each thread claims indices from an atomic counter, so no two write the same slot.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int next;
static int results[2];

static void *worker(void *arg) {
#ifdef RACY
    int i = atomic_load(&next); // NORACE
    if (i < 2) {
        results[i] = 1; // RACE!
        atomic_store(&next, i + 1); // NORACE
    }
#else
    int i = atomic_fetch_add(&next, 1); // NORACE
    if (i < 2)
        results[i] = 1; // NORACE
#endif
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return results[0] + results[1]; // NORACE
}
