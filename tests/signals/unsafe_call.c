// A handler calls a function that is not async-signal-safe while the thread that it interrupts is in one. With `-DRIGHT` it
// calls `write`; with `-DCOMPUTES` the thread is in no such function when the signal can come.
// Shows: signals: handlers that call what is not async-signal-safe (`printf`), where they may interrupt such a call
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(int signal) {
#ifdef RIGHT
    (void)!write(1, "signal\n", 7);
#else
    puts("signal"); // SIGNAL
#endif
    (void)signal;
}

static void *run(void *arg) {
#ifndef COMPUTES
    free(malloc(8));
#endif
    (void)getppid();
    return arg;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handler);
    pthread_create(&thread, 0, run, 0);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, 0);
    return 0;
}
