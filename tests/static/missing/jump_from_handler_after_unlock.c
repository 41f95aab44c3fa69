// A handler may jump out of a place where the lock is not held, to one that looks as if it were.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local sigjmp_buf back;
static int x;

#ifdef MODEL
long raceproof_choose(long lo, long hi);
static void interrupted(void) {
    if (raceproof_choose(0, 1))
        siglongjmp(back, 1);
}
#else
static void on_alarm(int number) {
    (void)number;
    siglongjmp(back, 1);
}
static void interrupted(void) {}
#endif

static void pause_without_lock(void) {
#ifdef RACY
    pthread_mutex_unlock(&m);
    interrupted();
    pthread_mutex_lock(&m);
#else
    interrupted();
#endif
}

// Returns with the lock held, but after a jump in the racy twin.
static int interruptible(void) {
    pthread_mutex_lock(&m);
    if (sigsetjmp(back, 1) == 0) {
        pause_without_lock();
        return 1;
    }
    x++; // RACE!
#ifdef RACY
    return 0;
#else
    return 1;
#endif
}

static void *work(void *arg) {
    if (interruptible())
        pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t one, two;
#ifndef MODEL
    signal(SIGALRM, on_alarm);
#endif
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
