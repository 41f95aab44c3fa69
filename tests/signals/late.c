// A signal is sent before a flag is set, and handled after the flag was seen. Right: the handler itself is waited for.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int sent, handled;

static void handler(int signal) {
    handled = 1;
}

static void *work(void *arg) {
#ifdef RIGHT
    while (!handled)
        ;
    assert(handled);
#else
    if (sent)
        assert(handled); // ASSERT
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handler);
    pthread_create(&thread, 0, work, 0);
    pthread_kill(thread, SIGUSR1);
    sent = 1;
    pthread_join(thread, 0);
    return 0;
}
