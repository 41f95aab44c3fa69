// Filling part of an array against writing an element.
#include <pthread.h>
#include <string.h>

static int table[8];

static void *worker(void *arg) {
#ifdef RACY
    table[3] = 1; // RACE!
#else
    table[4] = 1;
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    memset(table, 0, 4 * sizeof table[0]); // RACE!
    pthread_join(thread, NULL);
    return 0;
}
