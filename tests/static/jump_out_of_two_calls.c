// A jump over a function that holds a lock and would have released it: `sigsetjmp` and `siglongjmp`.
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, tries;

static void inner(sigjmp_buf back) {
    siglongjmp(back, 1);
}

static void outer(sigjmp_buf back) {
    pthread_mutex_lock(&m);
    tries++; // NORACE
    pthread_mutex_unlock(&m);
    inner(back);
    x = 0; // NORACE
}

static void *work(void *arg) {
    sigjmp_buf back;
    (void)arg;
    if (sigsetjmp(back, 0) == 0)
        outer(back);
#ifndef RACY
    pthread_mutex_lock(&m);
#endif
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
