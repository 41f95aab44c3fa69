// Thread tree: the thread is created on one path only, and joined on that path only.
#include <pthread.h>

static int cache, use_thread = 1;

static void *warm_up(void *arg) {
    cache = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    if (use_thread) // NORACE
        pthread_create(&thread, NULL, warm_up, NULL);
    else
        cache = 2; // NORACE
#ifdef RACY
    cache++; // RACE!
#endif
    if (use_thread) // NORACE
        pthread_join(thread, NULL);
#ifndef RACY
    cache++; // NORACE
#endif
    return cache; // NORACE
}
