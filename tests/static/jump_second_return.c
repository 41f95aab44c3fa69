// What comes after the second return of `setjmp` runs, too.
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *work(void *arg) {
    jmp_buf back;
    (void)arg;
    if (setjmp(back) == 0)
        longjmp(back, 1);
#ifdef RACY
    x++; // RACE!
#else
    pthread_mutex_lock(&m);
    x++; // NORACE
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
