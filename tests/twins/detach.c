// A detached thread cannot be waited for; a flag under a lock tells when it is done.
// Shows: threads: detached threads
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int done, data;

static void *worker(void *arg) {
    (void)arg;
    data = 1; // RACE!
    pthread_mutex_lock(&m);
    done = 1; // NORACE
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_detach(thread);
    pthread_mutex_lock(&m);
    int ready = done; // NORACE
    pthread_mutex_unlock(&m);
#ifdef RACY
    ready = 1;
#endif
    if (ready)
        data = 2; // RACE!
    return 0;
}
