// Who draws the last ticket reads what all others wrote. The net does not count: a candidate that no run shows.
#include <pthread.h>
#include <stdatomic.h>

static int results[2];
static atomic_int tickets;

static void *work(void *arg) {
    long me = (long)arg;
    results[me] = 1; // NORACE
    if (atomic_fetch_add(&tickets, 1) == 1)
        return results[0] + results[1] == 2 ? arg : 0; // NORACE
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, work, (void *)0);
    pthread_create(&other, 0, work, (void *)1);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
