// Accesses of different size race where they share a byte.
#include <pthread.h>
#include <stdint.h>

static union {
    uint32_t word;
    uint8_t byte[8];
} u;

static void *worker(void *arg) {
#ifdef RACY
    u.byte[2] = 1; // RACE!
#else
    u.byte[5] = 1;
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    u.word = 7; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
