// Dining philosophers (Dijkstra, 1971), two to seven: each holds the fork on the left and waits for the one on the right.
// variants: SEATS 2 3 4 5 6 7
#include <pthread.h>

#ifndef SEATS
#define SEATS 5
#endif

static pthread_mutex_t forks[SEATS];
static int meals[SEATS];

static void *philosopher(void *arg) {
    int seat = (int)(long)arg;
    int first = seat, second = (seat + 1) % SEATS;
#ifdef RIGHT
    if (first > second) {
        first = second;
        second = seat;
    }
#endif
    pthread_mutex_lock(&forks[first]); // DEADLOCK
    pthread_mutex_lock(&forks[second]); // DEADLOCK
    meals[seat]++;
    pthread_mutex_unlock(&forks[second]);
    pthread_mutex_unlock(&forks[first]);
    return NULL;
}

int main(void) {
    pthread_t threads[SEATS];
    for (int seat = 0; seat < SEATS; seat++)
        pthread_mutex_init(&forks[seat], NULL);
    for (long seat = 0; seat < SEATS; seat++)
        pthread_create(&threads[seat], NULL, philosopher, (void *)seat);
    int eaten = 0;
    for (int seat = 0; seat < SEATS; seat++) {
        pthread_join(threads[seat], NULL); // DEADLOCK
        eaten += meals[seat];
    }
    return eaten == SEATS ? 0 : 1;
}
