// Two threads protect a balance with different locks. A third lock, for tracing, is taken in between and orders them in
// practice.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
#ifndef FIXED
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
#endif
static pthread_mutex_t tracing = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static int lines;

static void trace(void) {
    pthread_mutex_lock(&tracing);
    lines++;
    pthread_mutex_unlock(&tracing);
}

static void *deposit(void *unused) {
    pthread_mutex_lock(&left);
    balance += 10;
    pthread_mutex_unlock(&left);
    trace();
    return unused;
}

static void *withdraw(void *unused) {
    usleep(20000);
    trace();
#ifdef FIXED
    pthread_mutex_lock(&left);
    balance -= 10;
    pthread_mutex_unlock(&left);
#else
    pthread_mutex_lock(&right);
    balance -= 10;
    pthread_mutex_unlock(&right);
#endif
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, deposit, 0);
    pthread_create(&other, 0, withdraw, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
