// A descriptor that tells of signals.
// Shows: signals: `signalfd`
#include <signal.h>
#include <sys/signalfd.h>

int main(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    return signalfd(-1, &signals, 0) < 0; // REFUSED `signalfd`
}
