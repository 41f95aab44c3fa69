// A signal with a value.
// Shows: signals: values sent with a signal (`sigqueue`)
#include <signal.h>
#include <unistd.h>

int main(void) {
    union sigval value = {.sival_int = 1};
    signal(SIGUSR1, SIG_IGN);
    return sigqueue(getpid(), SIGUSR1, value); // REFUSED `sigqueue`
}
