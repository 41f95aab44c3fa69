// `pthread_exit` runs the handlers of `pthread_cleanup_push`, with the locks held at the call.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void account(void *arg) {
    (void)arg;
#ifdef RACY
    x++; // RACE!
#else
    pthread_mutex_lock(&m);
    x++; // NORACE
    pthread_mutex_unlock(&m);
#endif
}

static void leave(void) {
    pthread_exit(NULL);
}

static void *work(void *arg) {
    pthread_cleanup_push(account, arg);
    leave();
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return x; // NORACE
}
