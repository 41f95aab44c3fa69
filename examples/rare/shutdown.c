// The main thread sets a flag for its workers under a lock, but resets their total without it.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds;
static int total;

static void *worker(void *unused) {
    for (int i = 0; i < 3; i++) {
#ifdef FIXED
        pthread_mutex_lock(&lock);
        total++;
#else
        total++;
        pthread_mutex_lock(&lock);
#endif
        rounds++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    usleep(30000);
    pthread_mutex_lock(&lock);
    rounds = 0;
#ifdef FIXED
    total = 0;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    total = 0;
#endif
    pthread_join(thread, 0);
    return 0;
}
