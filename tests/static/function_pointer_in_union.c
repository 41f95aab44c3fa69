// A function is called through the other member of a union.
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

union word {
    uint64_t number;
    void (*function)(void);
};
static union word word;

static void *work(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    x++; // RACE!
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t thread;
    union word made;
    made.function = count;
    word.number = made.number; // NORACE
    pthread_create(&thread, NULL, work, NULL);
    word.function(); // NORACE
    pthread_join(thread, NULL);
    return 0;
}
