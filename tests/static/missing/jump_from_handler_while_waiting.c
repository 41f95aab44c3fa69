// A handler may jump out of a wait for a condition, in which the lock is not held.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static _Thread_local sigjmp_buf back;
static int x, ready;

#ifdef MODEL
long raceproof_choose(long lo, long hi);
static void wait_for(void) {
    while (!ready) { // NORACE
#ifdef RACY
        pthread_mutex_unlock(&m);
        siglongjmp(back, 1);
#endif
        pthread_cond_wait(&c, &m);
    }
}
#else
static void on_alarm(int number) {
    (void)number;
    siglongjmp(back, 1);
}
static void wait_for(void) {
#ifdef RACY
    while (!ready)
        pthread_cond_wait(&c, &m);
#else
    while (!ready) { // NORACE
        pthread_mutex_unlock(&m);
        pthread_mutex_lock(&m);
    }
#endif
}
#endif

static void *work(void *arg) {
    pthread_mutex_lock(&m);
    if (sigsetjmp(back, 1) == 0) {
        wait_for();
        pthread_mutex_unlock(&m);
        return arg;
    }
#ifdef RACY
    x++; // RACE!
#endif
    return arg;
}

int main(void) {
    pthread_t one, two;
#ifndef MODEL
    signal(SIGALRM, on_alarm);
#endif
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_mutex_lock(&m);
    ready = 1; // NORACE
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
