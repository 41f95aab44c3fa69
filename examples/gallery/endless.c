// $ raceproof explore endless.c --run-time 0.3
// A loop without end in which nothing happens that another thread could see.
#include <pthread.h>

static int done;

static void *worker(void *arg) {
    (void)arg;
    volatile unsigned n = 0;
    while (n < 1u << 31 || n > 0)
        n++;
    done = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return done;
}
