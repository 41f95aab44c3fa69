// Atomics: atomic accesses do not race with each other; a plain access of the same bytes does.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int references = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_size;

static void *worker(void *arg) {
    atomic_fetch_add(&references, 1); // RACE!
    pthread_mutex_lock(&lock);
    log_size++; // NORACE
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&references, 1); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    int seen = *(int *)&references; // RACE!
#else
    int seen = atomic_load(&references); // NORACE
#endif
    pthread_mutex_lock(&lock);
    log_size++; // NORACE
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return seen;
}
