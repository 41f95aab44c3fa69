// exit in a thread ends the program; what it runs at exit may race with main.
// Shows: control: `exit` in any thread
#include <pthread.h>
#include <stdlib.h>

static int data;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void at_exit(void) {
#ifdef RACY
    data = 1; // RACE!
#else
    pthread_mutex_lock(&m);
    data = 1;
    pthread_mutex_unlock(&m);
#endif
}

static void *worker(void *arg) {
    (void)arg;
    exit(0);
}

int main(void) {
    pthread_t thread;
    atexit(at_exit);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&m);
    data = 2; // RACE!
    pthread_mutex_unlock(&m);
    pthread_exit(NULL);
}
