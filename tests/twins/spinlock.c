// Spin locks exclude like mutexes.
// Shows: threads: spin locks
#include <pthread.h>

static pthread_spinlock_t lock;
static int counter;

static void *worker(void *arg) {
#ifdef RACY
    if (pthread_spin_trylock(&lock) == 0)
        pthread_spin_unlock(&lock);
    counter++; // RACE!
#else
    pthread_spin_lock(&lock);
    counter++;
    pthread_spin_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_spin_lock(&lock);
    counter++; // RACE!
    pthread_spin_unlock(&lock);
    pthread_join(thread, NULL);
    pthread_spin_destroy(&lock);
    return 0;
}
