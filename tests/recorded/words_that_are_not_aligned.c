// Long stretches without synchronisation: words that overlap, at any address.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define COUNT 300000

static char *block;

static void *worker(void *argument) {
    long self = (long)argument;
    char *own = block + self * COUNT;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT - 8; i += 5) {
            int word = i;
            memcpy(own + i, &word, sizeof word); // RACE!
        }
        for (int i = 0; i < COUNT - 8; i += 8) {
            long word;
            memcpy(&word, own + i, sizeof word); // RACE!
            *(long *)(own + i) = word + 1; // RACE!
        }
    }
#ifdef RACY
    if (self) block[123457] = 1; // RACE!
#endif
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    block = malloc(2 * COUNT);
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
