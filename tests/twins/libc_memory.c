// memcpy, memmove and memset touch every byte they are given.
#include <pthread.h>
#include <string.h>

static char a[8], b[8], c[8];

static void *worker(void *arg) {
#ifdef RACY
    a[7] = 1; // RACE!
    b[7] = 1; // RACE!
    c[7] = 1; // RACE!
#else
    c[0] = 1; // NORACE
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    size_t n = sizeof a;
    pthread_create(&thread, NULL, worker, NULL);
    memcpy(a, b, n); // RACE!
    memset(c + 1, 0, n - 1); // RACE!
    memmove(c + 2, c + 1, n - 2); // RACE!
    pthread_join(thread, NULL);
    return memcmp(a, b, n) > 0;
}
