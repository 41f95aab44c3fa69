// A descriptor that tells when time has passed.
// Shows: descriptors: `timerfd_create`
#include <sys/timerfd.h>
#include <time.h>

int main(void) {
    return timerfd_create(CLOCK_MONOTONIC, 0) < 0; // REFUSED `timerfd_create`
}
