// A stream whose content is a block that grows. Racy: another thread asks how long it is while it is written out.
// Shows: streams: streams that make a block (`open_memstream`)
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *block;
static size_t len;

static void *print(void *arg) {
    FILE *stream = open_memstream(&block, &len); // RACE!
    fprintf(stream, "%d", 12345); // RACE!
    fclose(stream); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, print, 0);
#ifdef RACY
    size_t seen = len; // RACE!
    assert(seen <= 5);
#endif
    pthread_join(thread, 0);
    assert(len == 5 && strcmp(block, "12345") == 0);
    free(block);
    return 0;
}
