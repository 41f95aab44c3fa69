// Heap objects: freed after it was taken out under the lock, or before.
#include <pthread.h>
#include <stdlib.h>

struct session {
    int bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *current;

static void *account(void *arg) {
    pthread_mutex_lock(&lock);
    struct session *s = current; // RACE!
    if (s != NULL)
        s->bytes += 10; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

static void close_current(void) {
#ifdef RACY
    struct session *s = current; // NORACE
    current = NULL; // RACE!
#else
    pthread_mutex_lock(&lock);
    struct session *s = current; // NORACE
    current = NULL; // NORACE
    pthread_mutex_unlock(&lock);
#endif
    free(s); // RACE!
}

int main(void) {
    pthread_t thread;
    current = calloc(1, sizeof *current); // NORACE
    pthread_create(&thread, NULL, account, NULL);
    close_current();
    pthread_join(thread, NULL);
    return 0;
}
