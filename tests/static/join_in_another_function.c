// The results of workers are read by a function that is called after another function has joined them.
#include <pthread.h>

static int first_result, second_result;
static pthread_t first, second;

static void *count_first(void *arg) {
    first_result = 1; // RACE!
    return arg;
}

static void *count_second(void *arg) {
    second_result = 2; // NORACE
    return arg;
}

static void finish(void) {
    pthread_join(second, NULL);
#ifndef RACY
    pthread_join(first, NULL);
#endif
}

static int total(void) {
    int sum = second_result; // NORACE
    sum += first_result;     // RACE!
    return sum;
}

int main(void) {
    pthread_create(&first, NULL, count_first, NULL);
    pthread_create(&second, NULL, count_second, NULL);
    finish();
    return total();
}
