// $ raceproof explore first_only.c --reduction dpor --first
// There are two races; the search was told to stop at the first.
#include <pthread.h>

static int red, blue;

static void *paint(void *arg) {
    (void)arg;
    red = 1;
    blue = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, paint, NULL);
    red = 2;
    blue = 2;
    pthread_join(thread, NULL);
    return 0;
}
