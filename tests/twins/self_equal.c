// pthread_self and pthread_equal decide who writes.
#include <pthread.h>

static pthread_t owner;
static int data;

static void *worker(void *arg) {
    (void)arg;
    if (!pthread_equal(pthread_self(), owner)) // NORACE
#ifdef RACY
        data = 1; // RACE!
#else
        return NULL;
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    owner = pthread_self();
    pthread_create(&thread, NULL, worker, NULL);
    if (pthread_equal(owner, pthread_self()))
        data = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
