// pthread_once runs the routine once and orders it before every return.
// Shows: threads: once-controls
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int table;

static void fill(void) {
    table = 1; // NORACE
}

static void *worker(void *arg) {
#ifdef RACY
    if (table == 0) // RACE!
        table = 2; // RACE!
#else
    pthread_once(&once, fill);
#endif
    return table ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t one, two;
    pthread_once(&once, fill);
    table = 0;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
