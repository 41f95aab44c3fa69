// Two readers of a cache both upgrade to writer, each waiting for the other to stop reading.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int readers, writing, cached;

static void read_lock(void) {
    pthread_mutex_lock(&lock);
    while (writing)
        pthread_cond_wait(&changed, &lock);
    readers++;
    pthread_mutex_unlock(&lock);
}

static void read_unlock(void) {
    pthread_mutex_lock(&lock);
    readers--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void upgrade(void) {
#ifdef RIGHT
    read_unlock();
    pthread_mutex_lock(&lock);
    while (readers > 0 || writing)
        pthread_cond_wait(&changed, &lock);
    readers++;
#else
    pthread_mutex_lock(&lock);
    while (readers > 1 || writing)
        pthread_cond_wait(&changed, &lock); // DEADLOCK
#endif
    writing = 1;
    pthread_mutex_unlock(&lock);
}

static void write_unlock(void) {
    pthread_mutex_lock(&lock);
    writing = 0;
    readers--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *lookup(void *arg) {
    read_lock();
    if (cached != 0) {
        read_unlock();
        return arg;
    }
    upgrade();
    if (cached == 0)
        cached = 42;
    write_unlock();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, lookup, NULL);
    lookup(NULL);
    pthread_join(thread, NULL); // DEADLOCK
    return cached == 42 ? 0 : 1;
}
