// Thread-local data: a pointer to it that another thread gets makes it shared.
#include <pthread.h>
#include <stddef.h>

static _Thread_local int state;
static int *watched;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *watch(void *arg) {
    pthread_mutex_lock(&lock);
    int *p = watched; // NORACE
    if (p != NULL)
        *p = 5; // RACE!
    pthread_mutex_unlock(&lock);
    state = 1; // NORACE
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, watch, NULL);
    pthread_mutex_lock(&lock);
#ifdef RACY
    watched = &state; // NORACE
#endif
    pthread_mutex_unlock(&lock);
    state++; // RACE!
    pthread_join(thread, NULL);
    return state; // NORACE
}
