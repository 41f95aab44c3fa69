// --environment uninitialised: a local that stays in a register and is never written decides whether a thread touches the data.
#include <pthread.h>
#include <stddef.h>

static int data;

static void *work(void *arg) {
    int ready;
#ifdef RIGHT
    ready = 0;
#endif
    if (ready) // MISUSE reads memory that was never written
        data = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    data = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
