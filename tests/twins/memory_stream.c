// A stream over the program's memory. Racy: the memory is read while the stream is written to.
// Shows: streams: streams over memory of the program (`fmemopen`)
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char text[16];

static void *print(void *arg) {
    FILE *stream = fmemopen(text, sizeof text - 1, "w");
    fputs("hello", stream); // RACE!
    fclose(stream); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, print, 0);
#ifdef RACY
    text[15] = text[14]; // RACE!
#else
    text[15] = 0;
#endif
    pthread_join(thread, 0);
    assert(strcmp(text, "hello") == 0);
    FILE *stream = fmemopen(text, strlen(text), "r");
    char word[8];
    assert(fscanf(stream, "%7s", word) == 1 && strcmp(word, "hello") == 0);
    fclose(stream);
    return 0;
}
