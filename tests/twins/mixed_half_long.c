// Half of a long and the whole of it.
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static uint64_t whole[2];

static void *worker(void *arg) {
#ifdef RACY
    ((uint32_t *)&whole[0])[1] = 1; // RACE!
#else
    ((uint32_t *)&whole[1])[0] = 1;
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    uint64_t seen = whole[0]; // RACE!
    pthread_join(thread, NULL);
    return (int)seen;
}
