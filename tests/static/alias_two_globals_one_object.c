// Aliases: two pointers with different names lead to one counter.
#include <pthread.h>

static long packets;
static long errors;
static long *received = &packets;
static long *handled = &packets;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *receive(void *arg) {
    pthread_mutex_lock(&lock);
    ++*received; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, receive, NULL);
    errors++; // NORACE
#ifdef RACY
    ++*handled; // RACE!
#else
    pthread_mutex_lock(&lock);
    ++*handled; // NORACE
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
    return packets != 2; // NORACE
}
