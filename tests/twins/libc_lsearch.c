// lsearch appends what it does not find, and counts it.
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>

static int table[4] = {1, 2};
static size_t count = 2;

static int compare(const void *left, const void *right) {
    return *(const int *)left != *(const int *)right;
}

static void *worker(void *arg) {
    int key = 3;
    lsearch(&key, table, &count, sizeof key, compare); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    table[2] = 4; // RACE!
#else
    table[3] = 4;
#endif
    pthread_join(thread, NULL);
    return 0;
}
