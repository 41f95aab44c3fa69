// Aliases: a pointer that went through an integer and through void* still points to the same object.
#include <pthread.h>
#include <stdint.h>

static int level;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *raise_level(void *arg) {
    int *p = (int *)(uintptr_t)arg;
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    *p += 1; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    uintptr_t address = (uintptr_t)&level;
    pthread_create(&thread, NULL, raise_level, (void *)address);
    pthread_mutex_lock(&lock);
    level = 3; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return level; // NORACE
}
