// API parameters: qsort moves the elements and calls back to compare them.
#include <pthread.h>
#include <stdlib.h>

static int scores[3] = {3, 1, 2};
static int comparisons;

static int by_size(const void *a, const void *b) {
    comparisons++; // NORACE
    return *(const int *)a - *(const int *)b; // RACE!
}

static void *sorter(void *arg) {
    qsort(scores, 3, sizeof scores[0], by_size); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sorter, NULL);
#ifdef RACY
    scores[0] = 9; // RACE!
#endif
    pthread_join(thread, NULL);
    return scores[0] + (comparisons == 0); // NORACE
}
