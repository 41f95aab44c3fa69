// $ raceproof check statistics.c
// The user knows of this race and says why it may stay.
#include <pthread.h>

static unsigned long requests;

static void *serve(void *arg) {
    (void)arg;
    requests++; // raceproof: ignore(a lost count does no harm here)
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, serve, NULL);
    pthread_create(&two, NULL, serve, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
