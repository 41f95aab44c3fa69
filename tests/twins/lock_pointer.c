// Which lock is taken depends on shared data.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_int which;
static int counter;

static void *worker(void *arg) {
    int i = 0;
#ifdef RACY
    i = which; // NORACE
#endif
    pthread_mutex_lock(&m[i]);
    counter++; // RACE!
    pthread_mutex_unlock(&m[i]);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    which = 1; // NORACE
    pthread_mutex_lock(&m[0]);
    counter++; // RACE!
    pthread_mutex_unlock(&m[0]);
    pthread_join(thread, NULL);
    return 0;
}
