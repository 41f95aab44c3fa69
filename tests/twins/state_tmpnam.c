// tmpnam answers in a buffer of its own only if it is given none.
#include <pthread.h>
#include <stdio.h>

static void *worker(void *arg) {
#ifdef RACY
    return tmpnam(NULL) ? arg : NULL; // RACE!
#else
    char name[L_tmpnam];
    return tmpnam(name) ? arg : NULL;
#endif
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
