// $ raceproof check helper.c
// The racing lines are in a helper that everybody uses. What counts is who called it without the lock.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void add(int n) {
    total += n;
}

static void deposit(int n) {
    pthread_mutex_lock(&lock);
    add(n);
    pthread_mutex_unlock(&lock);
}

static void *customer(void *arg) {
    deposit(10);
    return arg;
}

static void *interest(void *arg) {
    add(1);
    return arg;
}

static pthread_t start(void *(*job)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, job, NULL);
    return thread;
}

int main(void) {
    pthread_t one = start(customer);
    pthread_t other = start(interest);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("%d\n", total);
    return 0;
}
