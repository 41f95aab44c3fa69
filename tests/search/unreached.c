// A function of which nothing is known is called only if the threads come in an order that does not occur; with -DREACHED, in
// one that does.
#include <pthread.h>

extern void frobnicate(void *) __attribute__((weak));

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int state;

static void *enter(void *arg) {
    (void)arg;
    pthread_mutex_lock(&mutex);
    state++;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, enter, NULL);
    pthread_mutex_lock(&mutex);
#ifdef REACHED
    if (state == 1)
#else
    if (state > 1)
#endif
        frobnicate(&state);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
