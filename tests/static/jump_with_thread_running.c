// A thread that was created between `setjmp` and the jump runs after the second return.
#include <pthread.h>
#include <setjmp.h>

static int x;

static void *work(void *arg) {
    (void)arg;
    x++; // RACE!
    return NULL;
}

static void start(jmp_buf back) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
#ifndef RACY
    pthread_join(thread, NULL);
#endif
    longjmp(back, 1);
}

int main(void) {
    jmp_buf back;
    if (setjmp(back) == 0)
        start(back);
    else
        x++; // RACE!
    return 0;
}
