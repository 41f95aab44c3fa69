// A thread waits for a signal that a descriptor tells of.
// Shows: signals: a signal that a descriptor tells of (`signalfd`), where somebody else looks for it too
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int main(void) {
    int signal;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signalfd(-1, &signals, 0);
    kill(getpid(), SIGUSR1);
    return sigwait(&signals, &signal); // REFUSED waits for a signal that a descriptor tells of
}
