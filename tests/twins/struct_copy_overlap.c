// Copying a struct writes all of it, padding included; a member of a neighbour is not part of it.
#include <pthread.h>

struct pair {
    char tag;
    long value;
};
static struct pair pairs[2];

static void *worker(void *arg) {
#ifdef RACY
    pairs[0].value = 1; // RACE!
#else
    pairs[1].value = 1;
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    struct pair mine = {'x', 9};
    pthread_create(&thread, NULL, worker, NULL);
    pairs[0] = mine; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
