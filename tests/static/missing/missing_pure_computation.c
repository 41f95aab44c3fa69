// A function is missing: it gets numbers only.
#include <pthread.h>

int checksum(int seed, int length);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int last, runs;

static void *worker(void *arg) {
    int sum = checksum(3, 4);
    pthread_mutex_lock(&lock);
    last = sum; // RACE!
    runs++; // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    last = 0; // RACE!
#endif
    pthread_mutex_lock(&lock);
    runs++; // NORACE
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return last + runs; // NORACE
}

#ifdef MODEL
int checksum(int seed, int length) {
    return seed * 31 + length;
}
#endif
