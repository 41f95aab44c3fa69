// Bounded buffer whose consumer tests the condition once: another consumer may be faster than the woken one (Lampson and Redell, 1980).
#include <assert.h>
#include <pthread.h>

enum { SIZE = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int items[SIZE], count, closed;

static void put(int item) {
    pthread_mutex_lock(&lock);
    items[count++] = item;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static int get(void) {
    pthread_mutex_lock(&lock);
#ifdef RIGHT
    while (count == 0 && !closed)
        pthread_cond_wait(&not_empty, &lock);
    int item = count > 0 ? items[--count] : 0;
#else
    if (count == 0 && !closed)
        pthread_cond_wait(&not_empty, &lock);
    assert(count > 0 || closed); // ASSERT
    int item = count > 0 ? items[--count] : 0;
#endif
    pthread_mutex_unlock(&lock);
    return item;
}

static void *consumer(void *arg) {
    get();
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, consumer, NULL);
    put(7);
    pthread_mutex_lock(&lock);
    closed = 1;
    pthread_cond_broadcast(&not_empty);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
