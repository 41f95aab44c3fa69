// A timer with a value for its handler, in a thread that is blocked otherwise. Racy: the handler's variable is a plain one.
// Shows: timers: `timer_create` with a value for the handler
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t came;
static int plain;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(int signal, siginfo_t *info, void *context) {
    assert(info->si_code == SI_TIMER && info->si_value.sival_int == 42);
    came = 1;
#ifdef RACY
    plain++; // RACE!
#endif
}

static void *work(void *arg) {
    pthread_mutex_lock(&lock);
    plain++; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    timer_t timer;
    struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 42};
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    struct itimerspec once = {{0, 0}, {0, 1000000}}, left;
    sigaction(SIGUSR1, &action, 0);
    assert(timer_create(CLOCK_MONOTONIC, &how, &timer) == 0);
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    pthread_create(&thread, 0, work, 0);
    assert(timer_settime(timer, 0, &once, 0) == 0);
    while (!came)
        sigsuspend(&old);
    assert(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    pthread_join(thread, 0);
    assert(timer_delete(timer) == 0);
    return 0;
}
