// A polling loop with a lock inside, and what comes after it: an assertion that fails in some schedules, and a race.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ready, value, late, count;

static void *poll(void *arg) {
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&m);
        int seen = ready;
        pthread_mutex_unlock(&m);
        if (seen) break;
    }
    pthread_mutex_lock(&m);
    int seen = value;
    pthread_mutex_unlock(&m);
    late = 1; // RACE!
    assert(seen == 2); // ASSERTION
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, poll, 0);
    pthread_mutex_lock(&m);
    ready = 1;
    value = 1;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    value = 2;
    pthread_mutex_unlock(&m);
    count += late; // RACE!
    pthread_join(thread, 0);
    return 0;
}
