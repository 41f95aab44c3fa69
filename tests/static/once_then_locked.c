// Once: the lock itself is made by the once function.
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock;
static int log_lines;

static void set_up(void) {
    pthread_mutex_init(&lock, NULL);
    log_lines = 0; // NORACE
}

static void log_line(void) {
    pthread_once(&once, set_up);
    pthread_mutex_lock(&lock);
    log_lines++; // RACE!
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    log_line();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    log_line();
#ifdef RACY
    log_lines = 0; // RACE!
#endif
    pthread_join(thread, NULL);
    return log_lines; // NORACE
}
