// Thread-local data: values kept under a key belong to the thread that set them.
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static int fallback;

static int *buffer(void) {
    int *mine = pthread_getspecific(key);
    if (mine == NULL) {
#ifdef RACY
        mine = &fallback;
#else
        mine = malloc(sizeof *mine);
#endif
        *mine = 0; // RACE!
        pthread_setspecific(key, mine);
    }
    return mine;
}

static void *worker(void *arg) {
    ++*buffer(); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_key_create(&key, NULL);
    pthread_create(&thread, NULL, worker, NULL);
    ++*buffer(); // RACE!
    pthread_join(thread, NULL);
    return fallback; // NORACE
}
