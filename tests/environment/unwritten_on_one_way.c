// --environment uninitialised: a local that only one way writes; what reads it cannot be told from what reads a written one.
#include <pthread.h>
#include <stddef.h>

static int data;
static int sources[2];

static void *work(void *arg) {
    int kind, *source;
#ifdef RIGHT
    kind = 1;
#endif
    if (arg)
        kind = *(int *)arg;
    source = kind == -1 ? &data : &sources[0];
    *source = 1; // RACE!
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    data = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
