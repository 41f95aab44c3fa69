/* A race of its own. */
#include <pthread.h>

static int mine;

static void *run(void *arg) {
    mine = 1;
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    mine = 2;
    pthread_join(thread, NULL);
    return 0;
}
