// --environment uninitialised: a flag in a heap block that nobody writes decides whether a thread touches the data.
#include <pthread.h>
#include <stdlib.h>

static struct shared {
    int ready;
    int other;
} *shared;
static int data;

static void *work(void *arg) {
    if (shared->ready) // MISUSE reads memory that was never written
        data = 1; // RACE!
    return arg;
}

int main(void) {
    shared = malloc(sizeof *shared);
    if (!shared)
        return 0;
    shared->other = 1;
#ifdef RIGHT
    shared->ready = 0;
#endif
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    data = 2; // RACE!
    pthread_join(thread, NULL);
    free(shared);
    return 0;
}
