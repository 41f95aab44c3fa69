// A lock held across a call: the callee's accesses are protected; on one path the callee is called without it.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int words, lines;

static void count_line(int length) {
    lines++; // RACE!
    words += length / 5; // RACE!
}

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    count_line(40);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    count_line(25);
#else
    pthread_mutex_lock(&lock);
    count_line(25);
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
    return words + lines; // NORACE
}
