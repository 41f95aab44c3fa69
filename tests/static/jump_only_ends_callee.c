// A function that is left only by a jump: the code after its call is dead, the code after `setjmp` is not.
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

static void fail(jmp_buf back) {
    longjmp(back, 1);
}

static void *work(void *arg) {
    jmp_buf back;
    (void)arg;
    if (setjmp(back) != 0) {
#ifdef RACY
        x++; // RACE!
#else
        pthread_mutex_lock(&m);
        x++; // NORACE
        pthread_mutex_unlock(&m);
#endif
        return NULL;
    }
    fail(back);
    y++; // NORACE
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return x + y; // NORACE
}
