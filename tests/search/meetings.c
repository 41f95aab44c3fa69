// Four threads meet at eight barriers and do their own work in between: who arrives first does not matter.
#include <assert.h>
#include <pthread.h>

#define COUNT 4

static pthread_barrier_t barrier;
static int done[COUNT]; // NORACE

static void *work(void *own) {
    for (int round = 0; round < 8; round++) {
        done[(long)own]++;
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(void) {
    pthread_t threads[COUNT];
    pthread_barrier_init(&barrier, 0, COUNT);
    for (long i = 0; i < COUNT; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < COUNT; i++) pthread_join(threads[i], 0);
    for (int i = 0; i < COUNT; i++) assert(done[i] == 8);
    return 0;
}
