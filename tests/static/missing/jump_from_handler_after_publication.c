// A handler may jump out of an endless loop, after the block was shown to others.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sigjmp_buf back;
static int *shown;

#ifdef MODEL
long raceproof_choose(long lo, long hi);
static void rest(void) {
    siglongjmp(back, 1);
}
#else
static void on_alarm(int number) {
    (void)number;
    siglongjmp(back, 1);
}
static volatile int never;
static void rest(void) {
    while (!never)
        ;
}
#endif

static void *work(void *arg) {
    pthread_mutex_lock(&m);
    int *known = shown; // NORACE
    pthread_mutex_unlock(&m);
    if (known)
        return *known ? arg : NULL; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
#ifndef MODEL
    signal(SIGALRM, on_alarm);
#endif
    int *block = malloc(sizeof *block);
    *block = 1; // NORACE
    pthread_create(&thread, NULL, work, NULL);
    if (sigsetjmp(back, 1) == 0) {
#ifdef RACY
        pthread_mutex_lock(&m);
        shown = block; // NORACE
        pthread_mutex_unlock(&m);
#endif
        rest();
    }
    *block = 2; // RACE!
    return 0;
}
