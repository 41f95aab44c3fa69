// Only the outermost unlock of a recursive mutex gives it back.
// Shows: threads: recursive mutexes
#include <pthread.h>

static pthread_mutex_t m;
static int counter;

static void *worker(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
#ifdef RACY
    pthread_mutex_unlock(&m);
    counter++; // RACE!
#else
    counter++;
    pthread_mutex_unlock(&m);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &attr);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&m);
    counter++; // RACE!
    pthread_mutex_unlock(&m);
    pthread_join(thread, NULL);
    return pthread_mutex_destroy(&m);
}
