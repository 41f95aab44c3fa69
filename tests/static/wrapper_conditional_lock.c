// Wrappers: a flag says whether the wrapper locks; the constant at the call decides.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void add(int n, int locked_already) {
    if (!locked_already)
        pthread_mutex_lock(&lock);
    total += n; // RACE!
    if (!locked_already)
        pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    add(1, 0);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    add(2, 1);
#else
    pthread_mutex_lock(&lock);
    add(2, 1);
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
    return total; // NORACE
}
