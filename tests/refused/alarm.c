// A signal that comes later.
// Shows: signals: timers (`alarm`)
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void handler(int signal) {
    seen = signal;
}

int main(void) {
    signal(SIGALRM, handler);
    alarm(1); // REFUSED `alarm`
    return seen != 0;
}
