// Recursion without end when the depth is read too early.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int limit;

static int deeper(int n) {
    volatile char frame[4096];
    return frame[0] = (char)n, n == 3 ? frame[0] : deeper(n + 1) + frame[0]; // CRASH
}

static void *worker(void *arg) {
    return deeper(limit) ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    limit = 4;
    pthread_join(thread, NULL);
    return 0;
}
