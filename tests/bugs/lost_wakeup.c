// Lost wake-up: the waiter tests the flag before it takes the lock, the signal comes in between (Birrell, "Programming with threads", 1989).
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static atomic_int done;
static int result;

static void *work(void *arg) {
    result = 42;
    pthread_mutex_lock(&lock);
    atomic_store(&done, 1);
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return arg;
}

static int wait_for_result(void) {
#ifdef RIGHT
    pthread_mutex_lock(&lock);
    while (!atomic_load(&done))
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
#else
    if (!atomic_load(&done)) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&ready, &lock); // DEADLOCK
        pthread_mutex_unlock(&lock);
    }
#endif
    return result;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    int got = wait_for_result();
    pthread_join(worker, NULL);
    return got == 42 ? 0 : 1;
}
