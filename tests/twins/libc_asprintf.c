// asprintf stores a new block, whose content it wrote: another thread may not read it before it knows.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char *text;

static void *worker(void *arg) {
    text[0] = 'x'; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    if (asprintf(&text, "%d%d", 1, 2) < 0)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    text[0] = 'y'; // RACE!
#else
    text[1] = 'y';
#endif
    pthread_join(thread, NULL);
    free(text);
    return 0;
}
