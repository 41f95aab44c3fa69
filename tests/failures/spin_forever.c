// The thread spins for ever in the schedules where it reads the flag before it is set to 1 and back.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *worker(void *arg) {
    if (flag == 1)
        while (flag != 2) // SPIN
            ;
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
