// qsort reads and writes the whole array; its comparison runs in the calling thread.
#include <pthread.h>
#include <stdlib.h>

static int items[4] = {4, 3, 2, 1};
static int compared;

static int compare(const void *a, const void *b) {
    compared++; // NORACE
    return *(const int *)a - *(const int *)b;
}

static void *worker(void *arg) {
#ifdef RACY
    items[3] = 9; // RACE!
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
#ifdef RACY
    pthread_create(&thread, NULL, worker, NULL);
    qsort(items, 2, sizeof items[0], compare); // NORACE
    int last = items[3]; // RACE!
#else
    pthread_create(&thread, NULL, worker, NULL);
    qsort(items, 4, sizeof items[0], compare);
    int last = items[3];
#endif
    pthread_join(thread, NULL);
    return compared == 0 || last == 99;
}
