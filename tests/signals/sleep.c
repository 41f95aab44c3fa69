// A handler ends the sleep of the thread that it interrupts. Right: the thread is prepared for that.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

static void handler(int signal) {
}

static void *work(void *arg) {
    struct timespec second = {.tv_sec = 1};
    int result = nanosleep(&second, 0);
#ifdef RIGHT
    assert(result == 0 || errno == EINTR);
#else
    assert(result == 0); // ASSERT
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handler);
    pthread_create(&thread, 0, work, 0);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, 0);
    return 0;
}
