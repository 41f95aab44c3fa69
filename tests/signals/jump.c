// A handler is left by a jump, natively with its signal unblocked: what is done about the next one is not followed.
// Shows: signals: handlers that are left by a jump
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
static sigjmp_buf back; static volatile int n;
static void h(int s) { n++; siglongjmp(back, 1); }
static void *run(void *a) { return a; }
int main(void) {
    pthread_t t; signal(SIGUSR1, h);
    pthread_create(&t, 0, run, 0);
    if (!sigsetjmp(back, 1)) raise(SIGUSR1);
    if (n < 2) { if (!sigsetjmp(back, 1)) raise(SIGUSR1); } // REFUSED leaves the handler of a signal by a jump
    pthread_join(t, 0);
    assert(n == 2);
}
