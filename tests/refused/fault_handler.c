// A handler of a fault that happens.
// Shows: signals: handlers of faults, where the fault happens
#include <signal.h>
#include <unistd.h>

static int *volatile nowhere;

static void handler(int signal) {
    _exit(signal != SIGSEGV);
}

int main(void) {
    signal(SIGSEGV, handler);
    *nowhere = 1; // REFUSED handles signal 11 itself
    return 1;
}
