// asctime's answer is overwritten by a later ctime.
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    time_t now = 1000;
    pthread_mutex_lock(&lock);
    ctime(&now); // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    struct tm day = {.tm_mday = 1, .tm_year = 70};
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    char *text = asctime(&day);
#ifdef RACY
    pthread_mutex_unlock(&lock);
    char first = text[0]; // RACE!
#else
    char first = text[0];
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
    return first == 'x';
}
