// ecvt and fcvt answer in a buffer of the library.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    int point, sign;
    char *digits = ecvt(1.5, 3, &point, &sign); // RACE!
    (void)digits[0];                            // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
