// Handed over through an event counter.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int data, ends[2];

static void *sender(void *arg) {
    data = 42;
    uint64_t one = 1;
    if (write(ends[1], &one, 8) != 8)
        abort();
    return arg;
}

int main(void) {
    pthread_t thread;
    ends[0] = ends[1] = eventfd(0, 0);
    pthread_create(&thread, NULL, sender, NULL);
    uint64_t value;
    if (read(ends[0], &value, 8) != 8)
        abort();
    int seen = data;
    pthread_join(thread, NULL);
    return seen != 42;
}
