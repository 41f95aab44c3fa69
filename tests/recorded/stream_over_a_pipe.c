// What is handed over through streams over a pipe is ordered.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int data;
static int ends[2];

static void *receiver(void *unused) {
    FILE *in = fdopen(ends[0], "r");
    int got = fgetc(in);
    if (got != 'x') return NULL;
    data += 1; // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    pipe(ends);
    FILE *out = fdopen(ends[1], "w");
    pthread_create(&thread, NULL, receiver, NULL);
#ifndef RACY
    data = 1;
#endif
    fputc('x', out);
    fflush(out);
#ifdef RACY
    data = 1; // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
