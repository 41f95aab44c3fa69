// Fails for one value only, and only if the other thread comes first.
#include <assert.h>
#include <pthread.h>
#include <raceproof.h>
#include <stdatomic.h>

static atomic_int total;

static void *worker(void *arg) {
    total += (int)raceproof_choose(0, 4);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int seen = total;
    assert(seen != 3); // ASSERT
    pthread_join(thread, NULL);
    return 0;
}
