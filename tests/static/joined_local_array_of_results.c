// Locals that escape to joined threads: an array of results on the stack.
#include <pthread.h>

static void *measure(void *arg) {
    int *slot = arg;
    *slot += 1; // RACE!
    return NULL;
}

static int run(void) {
    int results[2] = {10, 20};
    pthread_t threads[2];
    int sum = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, measure, &results[i]);
#ifdef RACY
    sum = results[0]; // RACE!
#endif
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        sum += results[i]; // NORACE
    return sum;
}

int main(void) {
    return run() + run();
}
