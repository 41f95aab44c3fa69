// Bounded buffer with one condition for both sides, which wakes one thread: the wrong one (Magee and Kramer; Java's notify).
#include <pthread.h>

enum { ITEMS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full, slot, sum;

static void wake(void) {
#ifdef RIGHT
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed);
#endif
}

static void put(int item) {
    pthread_mutex_lock(&lock);
    while (full)
        pthread_cond_wait(&changed, &lock); // DEADLOCK
    slot = item;
    full = 1;
    wake();
    pthread_mutex_unlock(&lock);
}

static int get(void) {
    pthread_mutex_lock(&lock);
    while (!full)
        pthread_cond_wait(&changed, &lock); // DEADLOCK
    full = 0;
    int item = slot;
    sum += item;
    wake();
    pthread_mutex_unlock(&lock);
    return item;
}

static void *producer(void *arg) {
    for (int i = 1; i <= ITEMS; i++)
        put(i);
    return arg;
}

static void *consumer(void *arg) {
    get();
    return arg;
}

int main(void) {
    pthread_t one, threads[ITEMS];
    pthread_create(&one, NULL, producer, NULL);
    for (int i = 0; i < ITEMS; i++)
        pthread_create(&threads[i], NULL, consumer, NULL);
    pthread_join(one, NULL); // DEADLOCK
    for (int i = 0; i < ITEMS; i++)
        pthread_join(threads[i], NULL); // DEADLOCK
    return sum == 3 ? 0 : 1;
}
