// $ raceproof check warning.c --engines static
// From the text alone: nothing is known that keeps the two accesses apart.
#include <pthread.h>

static int level;

static void *raise_level(void *arg) {
    (void)arg;
    level = 2;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, raise_level, NULL);
    level = 1;
    pthread_join(thread, NULL);
    return 0;
}
