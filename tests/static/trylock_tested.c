// Trylock: only where it returned 0 is the lock held.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done, skipped;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    done++; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    if (pthread_mutex_trylock(&lock) == 0) {
        done++; // NORACE
        pthread_mutex_unlock(&lock);
    } else {
        skipped++; // NORACE
#ifdef RACY
        done++; // RACE!
#endif
    }
    pthread_join(thread, NULL);
    return done + skipped; // NORACE
}
