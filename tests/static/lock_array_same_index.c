// Arrays of locks: a[i] is protected by locks[i] with the same i.
#include <pthread.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int slots[2];

static void bump(int i) {
    pthread_mutex_lock(&locks[i]);
#ifdef RACY
    slots[1 - i]++; // RACE!
    slots[i]++; // RACE!
#else
    slots[i]++; // NORACE
#endif
    pthread_mutex_unlock(&locks[i]);
}

static void *worker(void *arg) {
    bump(0);
    bump(1);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    bump(0);
    bump(1);
    pthread_join(thread, NULL);
    return slots[0] + slots[1]; // NORACE
}
