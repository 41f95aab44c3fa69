// The address of the loop's variable is the argument of every thread (known from every course on pthreads).
#include <pthread.h>

enum { THREADS = 3 };

static int results[THREADS];

static void *square(void *arg) {
    int self = *(int *)arg; // RACE!
    if (self < THREADS)
        results[self] = self * self; // RACE
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
#ifdef RIGHT
    int numbers[THREADS];
#endif
    int i;
    for (i = 0; i < THREADS; i++) { // RACE!
#ifdef RIGHT
        numbers[i] = i;
        pthread_create(&threads[i], NULL, square, &numbers[i]);
#else
        pthread_create(&threads[i], NULL, square, &i);
#endif
    }
    for (int n = 0; n < THREADS; n++)
        pthread_join(threads[n], NULL);
    return results[2];
}
