// A function is missing: it is called while a thread runs; what was never given away stays private.
#include <pthread.h>

int poll_devices(int timeout);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int events;

static void *collector(void *arg) {
    pthread_mutex_lock(&lock);
    events++; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    int rounds = 0;
    pthread_create(&thread, NULL, collector, NULL);
    while (poll_devices(rounds) > 0)
        rounds++; // NORACE
#ifdef RACY
    events += rounds; // RACE!
#endif
    pthread_mutex_lock(&lock);
    events += rounds; // NORACE
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return events; // NORACE
}

#ifdef MODEL
int poll_devices(int timeout) {
    return 2 - timeout;
}
#endif
