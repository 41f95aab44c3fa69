// Exit: the first thread ends by `pthread_exit`, so the last thread runs the handlers, after all others have ended. With
// RACY a thread calls `exit` instead, while another is still running.
#include <pthread.h>
#include <stdlib.h>

static int balance;

static void report(void) {
    balance++; // RACE!
}

static void *work(void *unused) {
    balance = 1; // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    atexit(report);
    pthread_create(&thread, 0, work, 0);
    pthread_detach(thread);
#ifdef RACY
    exit(0);
#endif
    pthread_exit(0);
}
