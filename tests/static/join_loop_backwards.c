// Join loops: joined in reverse order, with a while loop.
#include <pthread.h>

#define N 2
static int marks;

static void *mark(void *arg) {
    __atomic_or_fetch(&marks, *(int *)arg, __ATOMIC_SEQ_CST); // RACE!
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    int bits[N] = {1, 2};
    int n = 0;
    while (n < N) {
        pthread_create(&threads[n], NULL, mark, &bits[n]);
        n++;
    }
#ifdef RACY
    marks |= 4; // RACE!
#endif
    while (n > 0)
        pthread_join(threads[--n], NULL);
    marks |= 8; // NORACE
    return marks; // NORACE
}
