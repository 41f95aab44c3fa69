// The thread counts while it spins, for ever in some schedules: only the limit on the run's length ends it.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag, rounds;

static void *worker(void *arg) {
    if (flag == 1)
        while (flag != 2) // SPIN
            rounds++;
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    flag = 1;
    flag = 0;
    pthread_join(thread, NULL);
    return 0;
}
