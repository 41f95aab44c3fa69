// A tiny program: two threads, one lock. With an argument, main first touches that many megabytes of heap.
#include "rp.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void *add(void *arg) {
    AT(pthread_mutex_lock(&lock));
    STORE(counter, LOAD(counter) + 1);
    AT(pthread_mutex_unlock(&lock));
    return arg;
}

int main(int argc, char **argv) {
    pthread_t a, b;
    size_t megabytes = argc > 1 ? strtoul(argv[1], 0, 10) : 0;
    char *memory = AT(malloc(megabytes << 20 | 1));
    memset(memory, 1, megabytes << 20 | 1);
    AT(pthread_create(&a, 0, add, 0));
    AT(pthread_create(&b, 0, add, 0));
    AT(pthread_join(a, 0));
    AT(pthread_join(b, 0));
    return memory[0] - 1 + counter - 2;
}
