// Two handles change places before the first one is joined.
#include <pthread.h>

static int x, y;

static void *first(void *arg) {
    (void)arg;
    x++; // RACE!
    return NULL;
}

static void *second(void *arg) {
    (void)arg;
    y++; // NORACE
    return NULL;
}

int main(void) {
    pthread_t threads[2], other;
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    other = threads[0];
    threads[0] = threads[1];
    threads[1] = other;
#ifdef RACY
    pthread_join(threads[0], NULL);
    x++; // RACE!
    pthread_join(threads[1], NULL);
#else
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    x++; // NORACE
#endif
    return y; // NORACE
}
