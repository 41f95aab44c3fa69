// Shows: timers: a timer behind a descriptor, read with and without waiting, repeating, disarmed.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static void *nothing(void *arg) {
    return arg;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, nothing, 0);
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec once = {.it_value = {.tv_nsec = 50000000}}, twice = {.it_value = {.tv_nsec = 20000000}, .it_interval = {.tv_nsec = 20000000}};
    struct itimerspec left, off = {0}, bad = {.it_value = {.tv_nsec = 1000000000}};
    uint64_t count = 0;
    double start = now();
    assert(!timerfd_settime(timer, 0, &once, 0));
    assert(!timerfd_gettime(timer, &left) && left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 50000000);
    assert(read(timer, &count, sizeof count) == sizeof count && count == 1 && now() - start >= 0.05);
    assert(!timerfd_gettime(timer, &left) && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    fcntl(timer, F_SETFL, O_NONBLOCK);
    assert(read(timer, &count, sizeof count) == -1 && errno == EAGAIN);
    assert(timerfd_settime(timer, 0, &bad, 0) == -1 && errno == EINVAL && write(timer, &count, sizeof count) == -1);
    assert(!timerfd_settime(timer, 0, &twice, &left) && left.it_value.tv_nsec == 0);
    int early = 0;
    for (int i = 0; i < 2; i++)
        while (read(timer, &count, sizeof count) == -1)
            early++;
#ifdef WRONG
    assert(early == 0);
#endif
    assert(!timerfd_settime(timer, 0, &off, &left) && left.it_interval.tv_nsec == 20000000);
    assert(read(timer, &count, sizeof count) == -1 && errno == EAGAIN);
    assert(timerfd_settime(0, 0, &once, 0) == -1);
    close(timer);
    pthread_join(other, 0);
    return 0;
}
