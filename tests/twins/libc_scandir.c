// scandir stores a list of new blocks, which threads may share.
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>

static struct dirent **list;

static void *worker(void *arg) {
    list[0]->d_type = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    if (scandir("/", &list, NULL, alphasort) < 2)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    list[0]->d_type = 2; // RACE!
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    list[0]->d_type = 2;
#endif
    return 0;
}
