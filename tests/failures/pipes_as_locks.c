// A byte in a pipe is a lock: two of them are taken in two orders.
#include <pthread.h>
#include <unistd.h>

static int one[2], other[2];

static void take(int *first, int *second) {
    char byte = 0;
    read(first[0], &byte, 1);
    read(second[0], &byte, 1); // DEADLOCK
    write(second[1], &byte, 1);
    write(first[1], &byte, 1);
}

static void *worker(void *arg) {
    take(other, one);
    return arg;
}

int main(void) {
    pthread_t thread;
    pipe(one);
    pipe(other);
    write(one[1], "", 1);
    write(other[1], "", 1);
    pthread_create(&thread, NULL, worker, NULL);
    take(one, other);
    pthread_join(thread, NULL);
    return 0;
}
