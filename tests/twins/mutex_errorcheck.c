// An error-checking mutex refuses a second lock by its owner; ignoring the result of unlock hides nothing.
// Shows: threads: error-checking mutexes
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t m;
static int counter, refused;

static void *worker(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    if (pthread_mutex_lock(&m) == EDEADLK)
        refused++; // NORACE
#ifdef RACY
    pthread_mutex_unlock(&m);
#endif
    counter++; // RACE!
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &attr);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&m);
    counter++; // RACE!
    pthread_mutex_unlock(&m);
    pthread_join(thread, NULL);
    return refused != 1;
}
