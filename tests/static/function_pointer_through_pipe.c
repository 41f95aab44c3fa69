// The address of a function passes through a pipe.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void count(void) {
#ifndef RACY
    pthread_mutex_lock(&m);
#endif
    x++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&m);
#endif
}


static void *work(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    x++; // RACE!
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int ends[2];
    void (*sent)(void) = count, (*got)(void) = NULL;
    if (pipe(ends) != 0 || write(ends[1], &sent, sizeof sent) != sizeof sent)
        return 1;
    pthread_create(&thread, NULL, work, NULL);
    if (read(ends[0], &got, sizeof got) == sizeof got)
        got();
    pthread_join(thread, NULL);
    return 0;
}
