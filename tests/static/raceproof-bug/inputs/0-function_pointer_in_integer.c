// A function is called through an integer that was made of its address.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void count(void) {
#ifndef RACY
    pthread_mutex_lock(&m);
#endif
    x++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&m);
#endif
}

static uintptr_t hidden;

static void *work(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    x++; // RACE!
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t thread;
    hidden = (uintptr_t)count ^ 0x5a; // NORACE
    pthread_create(&thread, NULL, work, NULL);
    ((void (*)(void))(hidden ^ 0x5a))(); // NORACE
    pthread_join(thread, NULL);
    return 0;
}
