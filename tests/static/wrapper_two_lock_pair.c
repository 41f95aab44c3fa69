// Wrappers: one function takes two locks, another releases only one of them.
#include <pthread.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int index_size, file_size;

static void lock_both(void) {
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
}

static void release_inner(void) {
    pthread_mutex_unlock(&inner);
}

static void *grow(void *arg) {
    lock_both();
    index_size++; // NORACE
    release_inner();
#ifdef RACY
    file_size++; // RACE!
#else
    index_size++; // NORACE
#endif
    pthread_mutex_unlock(&outer);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, grow, NULL);
    pthread_mutex_lock(&outer);
    index_size--; // NORACE
    pthread_mutex_unlock(&outer);
    pthread_mutex_lock(&inner);
    file_size--; // RACE!
    pthread_mutex_unlock(&inner);
    pthread_join(thread, NULL);
    return index_size + file_size; // NORACE
}
