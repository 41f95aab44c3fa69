// rand locks its generator; rand_r uses the caller's, which it does not lock.
#include <pthread.h>
#include <stdlib.h>

static unsigned seed = 1;

static void *worker(void *arg) {
    int number = rand();
#ifdef RACY
    number += rand_r(&seed); // RACE!
#endif
    return number ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
