// A thread lets a time limit end ten waits in a row, which the search lets happen only where nothing else can. With -DRACY it
// then races with what another thread did meanwhile.
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int data;

static void *tick(void *arg) {
    (void)arg;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 10; i++) {
        struct timespec limit = {i, 0};
        pthread_cond_timedwait(&never, &mutex, &limit);
    }
    pthread_mutex_unlock(&mutex);
    data = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, tick, NULL);
#ifdef RACY
    data = 2;
#endif
    pthread_join(thread, NULL);
    return data == 1 ? 0 : 1;
}
