// API parameters: a library function writes the block it is given.
#include <pthread.h>
#include <string.h>

static char buffer[8];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wipe(void *arg) {
    char *block = arg;
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    memset(block, 0, 8); // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wipe, buffer);
    pthread_mutex_lock(&lock);
    buffer[5] = 'x'; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return buffer[0]; // NORACE
}
