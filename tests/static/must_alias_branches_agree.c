// Must-alias: both branches choose the same lock, or not.
#include <pthread.h>

static pthread_mutex_t fast = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void add(int n) {
    pthread_mutex_t *m;
    if (n > 2)
        m = &slow;
    else
#ifdef RACY
        m = &fast;
#else
        m = &slow;
#endif
    pthread_mutex_lock(m);
    total += n; // RACE!
    pthread_mutex_unlock(m);
}

static void *worker(void *arg) {
    add(1);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&slow);
    total++; // RACE!
    pthread_mutex_unlock(&slow);
    pthread_join(thread, NULL);
    add(5);
    return total; // NORACE
}
