// Thread tree: what stands behind pthread_exit in the thread never runs; main joins at the end of both paths.
#include <pthread.h>

static int stage;

static void finish(int early) {
    if (early)
        pthread_exit(NULL);
    stage = 2; // RACE!
}

static void *worker(void *arg) {
#ifdef RACY
    finish(0);
#else
    finish(1);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int seen = stage; // RACE!
    pthread_join(thread, NULL);
    return seen;
}
