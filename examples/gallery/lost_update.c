// $ raceproof check lost_update.c
// Two threads count together, and one of the two steps gets lost.
#include <pthread.h>

static int counter;

static void *count(void *arg) {
    (void)arg;
    counter++;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, count, NULL);
    pthread_create(&two, NULL, count, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return counter;
}
