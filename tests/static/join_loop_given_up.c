// Join loops: as many threads are joined as the loop that made them had counted when it was left.
#include <pthread.h>

#define N 3
static int total;

static void *add(void *arg) {
    __atomic_fetch_add(&total, *(int *)arg, __ATOMIC_SEQ_CST); // RACE!
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    int parts[N] = {1, 2, 0}, n;
    for (n = 0; n < N; n++) {
        pthread_create(&threads[n], NULL, add, &parts[n]);
#ifdef RACY
        if (parts[n] == 2) // this one is not counted
            break;
#endif
    }
    while (n > 0)
        pthread_join(threads[--n], NULL);
    total *= 2; // RACE!
    return total; // RACE!
}
