// The thread waits for ever in the schedules where it reads the flag between the two writes.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *worker(void *arg) {
    if (flag == 1)
        while (flag != 2) // DEADLOCK
            ;
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    flag = 1;
    flag = 0;
    pthread_join(thread, NULL); // DEADLOCK
    return 0;
}
