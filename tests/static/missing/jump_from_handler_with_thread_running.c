// A handler may jump away from between a creation and its join.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sigjmp_buf back;
static int x, y;

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

static void *work(void *arg) {
    pthread_mutex_lock(&m);
    y++; // NORACE
    pthread_mutex_unlock(&m);
#ifdef RACY
    x++; // RACE!
#endif
    return arg;
}

static void start_and_await(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    interrupted();
    pthread_join(thread, NULL);
}

int main(void) {
#ifndef MODEL
    signal(SIGALRM, on_alarm);
#endif
    if (sigsetjmp(back, 1) == 0)
        start_and_await();
    x++; // RACE!
    pthread_mutex_lock(&m);
    y++; // NORACE
    pthread_mutex_unlock(&m);
    return 0;
}
