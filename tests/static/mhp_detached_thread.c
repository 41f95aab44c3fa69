// Thread tree: a detached thread is never joined; main must not touch its data without a lock.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int beats;

static void *heart(void *arg) {
    pthread_mutex_lock(&lock);
    beats++; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    beats = 0; // NORACE
    pthread_create(&thread, NULL, heart, NULL);
    pthread_detach(thread);
#ifdef RACY
    return beats; // RACE!
#else
    pthread_mutex_lock(&lock);
    int seen = beats; // NORACE
    pthread_mutex_unlock(&lock);
    return seen;
#endif
}
