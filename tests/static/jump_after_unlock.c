// A lock that is held at `setjmp` was released before the jump.
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void give_up(jmp_buf back) {
#ifdef RACY
    pthread_mutex_unlock(&m);
#endif
    longjmp(back, 1);
}

static void *work(void *arg) {
    jmp_buf back;
    (void)arg;
    pthread_mutex_lock(&m);
    if (setjmp(back) == 0)
        give_up(back);
    x++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&m);
#endif
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return x; // NORACE
}
