// The pointer is null when the reader comes first.
#include <pthread.h>
#include <stdatomic.h>

static int value = 1;
static _Atomic(int *) pointer;

static void *reader(void *arg) {
    return *pointer ? arg : NULL; // CRASH
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    pointer = &value;
    pthread_join(thread, NULL);
    return 0;
}
