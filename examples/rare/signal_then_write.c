// The signaller writes once more after it has left the section. The waiter always takes the lock later, because another
// section of the signaller follows.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready;
static int extra;
static int epilogue;

static void *waiter(void *unused) {
    pthread_mutex_lock(&lock);
    while (!is_ready)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    usleep(20000);
    pthread_mutex_lock(&lock);
    epilogue++;
    pthread_mutex_unlock(&lock);
    return (void *)(long)extra;
}

static void *signaller(void *unused) {
    usleep(5000);
#ifdef FIXED
    extra = 1;
#endif
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    extra = 1;
#endif
    pthread_mutex_lock(&lock);
    epilogue++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, waiter, 0);
    pthread_create(&other, 0, signaller, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
