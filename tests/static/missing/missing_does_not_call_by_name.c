// A function without a body calls what it was given, and nothing by name: what nobody calls does not run.
#include <pthread.h>

void announce(int what);
#ifdef MODEL
void announce(int what) { (void)what; }
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

void reset(void) { total = 0; }

static void *add(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    total++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    announce(1);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    pthread_mutex_lock(&lock);
    total++; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return total; // NORACE
}
