// $ raceproof check check_then_act.c
// Atomic accesses do not race, but the seat is sold twice.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int seats = 1;

static void *book(void *arg) {
    (void)arg;
    if (atomic_load(&seats) > 0) {
        int left = atomic_fetch_sub(&seats, 1) - 1;
        assert(left >= 0);
    }
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, book, NULL);
    pthread_create(&two, NULL, book, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
