// The same function fills a row of handles twice; joining the row once joins the second half only.
#include <pthread.h>

#define THREADS 2

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_t threads[THREADS];
static int x;

static void *work(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    x++; // RACE!
    pthread_mutex_unlock(&m);
    return NULL;
}

static void spawn(void) {
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
}

static void join_all(void) {
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void) {
    spawn();
#ifndef RACY
    join_all();
#endif
    spawn();
    join_all();
    x++; // RACE!
    return 0;
}
