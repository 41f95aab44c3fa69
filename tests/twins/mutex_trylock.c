// The result of trylock has to be looked at.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *arg) {
    (void)arg;
    int failed = pthread_mutex_trylock(&m);
#ifdef RACY
    counter++; // RACE!
#else
    if (!failed)
        counter++;
#endif
    if (!failed)
        pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&m);
    counter++; // RACE!
    pthread_mutex_unlock(&m);
    pthread_join(thread, NULL);
    return 0;
}
