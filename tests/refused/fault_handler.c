// A handler of faults.
// Shows: signals: handlers of faults
#include <signal.h>

static void handler(int signal) {
    (void)signal;
}

int main(void) {
    signal(SIGSEGV, handler); // REFUSED handles signal 11 itself
    return 0;
}
