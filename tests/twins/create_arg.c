// What is written before pthread_create is ordered before the new thread; what is written after is not.
#include <pthread.h>

static int setting;

static void *worker(void *arg) {
    (void)arg;
    return setting ? &setting : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
#ifdef RACY
    pthread_create(&thread, NULL, worker, NULL);
    setting = 1; // RACE!
#else
    setting = 1;
    pthread_create(&thread, NULL, worker, NULL);
#endif
    pthread_join(thread, NULL);
    return 0;
}
