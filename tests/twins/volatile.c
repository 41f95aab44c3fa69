// volatile is not atomic.
#include <pthread.h>
#include <stdatomic.h>

#ifdef RACY
static volatile int flag;
#else
static _Atomic int flag;
#endif

static void *worker(void *arg) {
    flag = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int seen = flag; // RACE!
    pthread_join(thread, NULL);
    return seen == 9;
}
