// Thread-specific slots: each thread writes the slot whose number it was given.
#include <pthread.h>
#include <stdint.h>

#define WORKERS 2
static int results[WORKERS];

static void *worker(void *arg) {
    intptr_t id = (intptr_t)arg;
    results[id] = 100 + (int)id; // RACE!
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    for (intptr_t i = 0; i < WORKERS; i++)
#ifdef RACY
        pthread_create(&threads[i], NULL, worker, (void *)(i / 2));
#else
        pthread_create(&threads[i], NULL, worker, (void *)i);
#endif
    int sum = 0;
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        sum += results[i]; // RACE!
    }
    return sum;
}
