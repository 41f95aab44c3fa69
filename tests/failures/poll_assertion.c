// A polling loop with a lock inside does not hide the assertion after it.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready, value;

static void set(int to, int now) {
    pthread_mutex_lock(&lock);
    value = to;
    ready = now;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    set(1, 1);
    set(2, 1);
    return arg;
}

int main(void) {
    pthread_t thread;
    int seen;
    pthread_create(&thread, NULL, worker, NULL);
    for (;;) {
        pthread_mutex_lock(&lock);
        int done = ready;
        seen = value;
        pthread_mutex_unlock(&lock);
        if (done)
            break;
    }
    assert(seen == 2); // ASSERT
    pthread_join(thread, NULL);
    return 0;
}
