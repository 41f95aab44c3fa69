// Once: double-checked locking with a plain flag races; with an atomic flag it does not.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef RACY
static int ready;
#else
static atomic_int ready;
#endif
static int value;

static int get(void) {
    if (!ready) { // RACE!
        pthread_mutex_lock(&lock);
        if (!ready) { // NORACE
            value = 7; // RACE!
            ready = 1; // RACE!
        }
        pthread_mutex_unlock(&lock);
    }
    return value; // RACE!
}

static void *worker(void *arg) {
    int *out = arg;
    *out = get(); // NORACE
    return NULL;
}

int main(void) {
    pthread_t thread;
    int theirs;
    pthread_create(&thread, NULL, worker, &theirs);
    int mine = get();
    pthread_join(thread, NULL);
    return theirs - mine; // NORACE
}
