// longjmp within a thread skips the unlock only where the code does.
// Shows: control: `longjmp` within a function
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void fail(jmp_buf env) {
    longjmp(env, 1);
}

static void *worker(void *arg) {
    jmp_buf env;
    pthread_mutex_lock(&m);
    if (setjmp(env) == 0)
        fail(env);
#ifdef RACY
    pthread_mutex_unlock(&m);
    counter++; // RACE!
#else
    counter++;
    pthread_mutex_unlock(&m);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&m);
    counter++; // RACE!
    pthread_mutex_unlock(&m);
    pthread_join(thread, NULL);
    return 0;
}
