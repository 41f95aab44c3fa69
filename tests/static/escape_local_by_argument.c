// Escapes: a local of main whose address is the thread's argument.
#include <pthread.h>
#include <stdio.h>

static void *compute(void *arg) {
    int *result = arg;
    *result = 6 * 7; // RACE!
    return NULL;
}

int main(void) {
    int result = 0;
    int untouched = 1;
    pthread_t thread;
    pthread_create(&thread, NULL, compute, &result);
    untouched++; // NORACE
#ifdef RACY
    printf("%d so far\n", result); // RACE!
#endif
    pthread_join(thread, NULL);
    return result - 42 + untouched; // NORACE
}
