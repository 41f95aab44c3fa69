// The destructor of a key, chosen while the program runs, is called at the end of threads whose start is chosen, too.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static int total;

static void tidy(void *arg) {
    (void)arg;
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    total++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
}

static void *work(void *arg) {
    pthread_setspecific(key, &total);
    return arg;
}

static void *(*start)(void *) = work;
static void (*destructor)(void *) = tidy;

int main(void) {
    pthread_t thread;
    pthread_key_create(&key, destructor);
    pthread_create(&thread, NULL, start, NULL);
    pthread_mutex_lock(&lock);
    total++; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
