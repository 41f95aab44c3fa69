// Join loops: threads are made from the first on and joined from the last on, with a counter that goes below zero.
#include <pthread.h>

#define N 3
static int total;

static void *add(void *arg) {
    __atomic_fetch_add(&total, *(int *)arg, __ATOMIC_SEQ_CST); // RACE!
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    int parts[N] = {1, 2, 3};
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, add, &parts[i]);
#ifdef RACY
    for (int i = N - 2; i >= 0; i--) // the last one is forgotten
#else
    for (int i = N - 1; i >= 0; i--)
#endif
        pthread_join(threads[i], NULL);
    total *= 2; // RACE!
    return total; // RACE!
}
