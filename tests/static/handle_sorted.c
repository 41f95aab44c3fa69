// Handles are sorted, so that the first one is another thread's.
#include <pthread.h>
#include <stdlib.h>

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

static int later_first(const void *one, const void *other) {
    pthread_t a = *(const pthread_t *)one, b = *(const pthread_t *)other; // NORACE
    return a < b ? 1 : a > b ? -1 : 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    qsort(threads, 2, sizeof threads[0], later_first);
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
