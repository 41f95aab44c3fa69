// What `qsort_r` sorts for one thread alone races with nothing; what its comparison counts may.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int comparisons[2];

static int compare(const void *left, const void *right, void *count) {
    ++*(int *)count; // RACE!
    return *(const int *)left - *(const int *)right;
}

static void *sort(void *arg) {
    int numbers[] = {3, 1, 2};
#ifdef RACY
    qsort_r(numbers, 3, sizeof *numbers, compare, &comparisons[0]);
#else
    qsort_r(numbers, 3, sizeof *numbers, compare, arg ? &comparisons[1] : &comparisons[0]);
#endif
    assert(numbers[0] == 1 && numbers[1] == 2 && numbers[2] == 3);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sort, NULL);
    sort(&thread);
    pthread_join(thread, NULL);
    return 0;
}
