// $ raceproof verify by_value.c
// Only the values that threads draw keep them apart, and the net does not look at these values.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int next_ticket;
static int slots[2];

static void *customer(void *arg) {
    (void)arg;
    int mine = atomic_fetch_add(&next_ticket, 1);
    slots[mine] = 1;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, customer, NULL);
    pthread_create(&two, NULL, customer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
