// Escapes: addresses in constants that the compiler computes, as an exclusive or and with a tag.
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second, tagged;
static uintptr_t mixed;
static uintptr_t tag = (uintptr_t)&tagged + 1;

static void *work(void *unused) {
    int *found = (int *)(mixed ^ (uintptr_t)&second); // NORACE
    int *untagged = (int *)(tag - 1);                 // NORACE
    pthread_mutex_lock(&lock);
    *found += 1;    // RACE!
    *untagged += 1; // RACE!
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    mixed = (uintptr_t)&first ^ (uintptr_t)&second; // NORACE
    pthread_create(&thread, 0, work, 0);
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    first += 2;  // RACE!
    tagged += 2; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, 0);
    return 0;
}
