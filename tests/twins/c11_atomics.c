// Atomic objects do not race; plain ones next to them do.
// Shows: threads: C11 atomics
#include <pthread.h>
#include <stdatomic.h>

static atomic_int hits;
static int plain;

static void *worker(void *arg) {
    atomic_fetch_add(&hits, 1); // NORACE
#ifdef RACY
    plain++; // RACE!
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    hits++; // NORACE
    plain++; // RACE!
    pthread_join(thread, NULL);
    return atomic_load(&hits) != 2;
}
