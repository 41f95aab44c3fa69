// `qsort` moves elements between calls of the comparison, which another thread may see if nothing orders them.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int numbers[2] = {2, 1};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right; // RACE!
}

static void *sort(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&mutex);
#endif
    qsort(numbers, 2, sizeof *numbers, compare); // RACE!
#ifndef RACY
    assert(numbers[0] == 1 && numbers[1] == 2);
    pthread_mutex_unlock(&mutex);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sort, NULL);
    sort(NULL);
    pthread_join(thread, NULL);
    return 0;
}
