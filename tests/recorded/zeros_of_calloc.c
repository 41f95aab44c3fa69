// `calloc` writes the block that it returns.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef RACY
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_seq_cst
#endif

static _Atomic(int *) shared;

static void *worker(void *unused) {
    int *block;
    while (!(block = atomic_load_explicit(&shared, ORDER)));
    return block[2] ? unused : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    atomic_store_explicit(&shared, calloc(4, 4), ORDER); // RACE!
    pthread_join(thread, NULL);
    return 0;
}
