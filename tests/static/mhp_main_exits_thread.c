// Thread tree: main ends by pthread_exit while workers go on; the last one cleans up after joining the other.
#include <pthread.h>

static pthread_t first;
static int results;

static void *produce(void *arg) {
    results = 9; // RACE!
    return arg;
}

static void *collect(void *arg) {
#ifndef RACY
    pthread_join(first, NULL); // NORACE
#endif
    results++; // RACE!
    return arg;
}

int main(void) {
    pthread_t second;
    pthread_create(&first, NULL, produce, NULL); // NORACE
    pthread_create(&second, NULL, collect, NULL);
    pthread_detach(second);
    pthread_exit(NULL);
}
