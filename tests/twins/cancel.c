// A cancelled thread stops at its next cancellation point; only joining it tells that it has stopped.
// Shows: threads: cancellation
#include <pthread.h>

static int data;

static void *worker(void *arg) {
    (void)arg;
    pthread_testcancel();
    data = 1; // RACE!
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_cancel(thread);
#ifdef RACY
    data = 2; // RACE!
    pthread_join(thread, &result);
#else
    pthread_join(thread, &result);
    data = 2;
#endif
    return result == PTHREAD_CANCELED && data == 1;
}
