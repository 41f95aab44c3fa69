// Prods/Cons of the paper's table 1: producers and consumers without number share one slot, and keep the lock between
// two turns.
#include <pthread.h>

static int slot;
static int full;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

static void *produce(void *arg) {
    pthread_mutex_lock(&lock);
    for (int item = 0; item < 10; item++) {
        while (full)
            pthread_cond_wait(&emptied, &lock);
        slot = item; // NORACE
        full = 1;
        pthread_cond_signal(&filled);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *consume(void *arg) {
    long sum = 0;
    pthread_mutex_lock(&lock);
    for (int item = 0; item < 10; item++) {
        while (!full)
            pthread_cond_wait(&filled, &lock);
        sum += slot; // NORACE
        full = 0;
        pthread_cond_signal(&emptied);
    }
    pthread_mutex_unlock(&lock);
    return (void *)sum;
}

int main(void) {
    for (;;) {
        pthread_t thread;
        pthread_create(&thread, 0, produce, 0);
        pthread_create(&thread, 0, consume, 0);
    }
}
