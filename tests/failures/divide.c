// Division by a value another thread may have made zero.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int divisor = 2;

static void *worker(void *arg) {
    volatile int n = 10;
    return n / divisor == 5 ? arg : NULL; // CRASH
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    divisor = 0;
    pthread_join(thread, NULL);
    return 0;
}
