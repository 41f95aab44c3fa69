// A jump through a pointer to `longjmp`.
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void (*leave)(jmp_buf, int) = longjmp;
static int x;

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
    leave(back, 1); // NORACE
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
