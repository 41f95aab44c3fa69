// Heap objects: one allocation site, but a block for each thread.
#include <pthread.h>
#include <stdlib.h>

static int *shared_block;

static void fill(int *block) {
    for (int i = 0; i < 2; i++)
        block[i] = i; // RACE!
}

static void *worker(void *arg) {
#ifdef RACY
    int *block = shared_block; // NORACE
#else
    int *block = malloc(2 * sizeof *block);
#endif
    fill(block);
    int sum = block[0] + block[1]; // RACE!
    return sum == 1 ? arg : NULL;
}

int main(void) {
    pthread_t a, b;
    shared_block = malloc(2 * sizeof *shared_block); // NORACE
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared_block[0] != 0; // NORACE
}
