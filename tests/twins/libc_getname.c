// pthread_getname_np writes the name where its argument says.
#define _GNU_SOURCE
#include <pthread.h>

static char names[2][16];

static void *worker(void *arg) {
    pthread_getname_np(pthread_self(), names[0], sizeof names[0]); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    char c = names[0][0]; // RACE!
#else
    char c = names[1][0];
#endif
    pthread_join(thread, NULL);
    return c == 'x';
}
