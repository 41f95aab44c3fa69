// What is chosen before the first thread exists decides what the threads do.
#include <pthread.h>
#include <raceproof.h>

static int shared[2], mine;

static void *worker(void *arg) {
    shared[mine] = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    mine = (int)raceproof_choose(-1, 1);
    if (mine < 0)
        return 0;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    shared[1] = 2; // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
