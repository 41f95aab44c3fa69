// Create order: between two creates only the first thread runs.
#include <pthread.h>

static int first_only, second_only;

static void *first(void *arg) {
    first_only++; // RACE!
    return arg;
}

static void *second(void *arg) {
    second_only++; // NORACE
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    second_only = 5; // NORACE
#ifdef RACY
    first_only = 5; // RACE!
#endif
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    first_only++; // NORACE
    pthread_join(b, NULL);
    return first_only + second_only; // NORACE
}
