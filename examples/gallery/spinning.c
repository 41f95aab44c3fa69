// $ raceproof explore spinning.c --max-steps 200
// A loop that waits without blocking may go round for ever.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int round_number;
static atomic_int stop;

static void *spin(void *arg) {
    (void)arg;
    while (!atomic_load(&stop))
        atomic_fetch_add(&round_number, 1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, spin, NULL);
    pthread_join(thread, NULL);
    return 0;
}
