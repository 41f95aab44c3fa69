// Prods/Cons 2 of the paper's table 1: the lock is given back between two turns, and a thread waits only if it has to.
#include <pthread.h>

static int slot;
static int full;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

static void *produce(void *arg) {
    for (int item = 0;; item++) {
        pthread_mutex_lock(&lock);
        if (full)
            pthread_cond_wait(&emptied, &lock);
        slot = item; // NORACE
        full = 1;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *consume(void *arg) {
    int last = 0;
    while (last >= 0) {
        pthread_mutex_lock(&lock);
        if (!full)
            pthread_cond_wait(&filled, &lock);
        last = slot; // NORACE
        full = 0;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    for (;;) {
        pthread_t thread;
        pthread_create(&thread, 0, produce, 0);
        pthread_create(&thread, 0, consume, 0);
    }
}
