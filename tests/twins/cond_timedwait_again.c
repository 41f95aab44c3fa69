// A wait with a time limit that is tried again until there is something: it may time out a few times before that. The racy
// twin writes what was waited for after it has said that it is there.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool ready;
static int data;

static void announce(void) {
    pthread_mutex_lock(&mutex);
    ready = true;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&changed);
}

static void *produce(void *arg) {
    (void)arg;
#ifdef RACY
    announce();
    data = 1; // RACE!
#else
    data = 1;
    announce();
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, produce, NULL);
    pthread_mutex_lock(&mutex);
    while (!ready) {
        struct timespec limit;
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec++;
        pthread_cond_timedwait(&changed, &mutex, &limit);
    }
    pthread_mutex_unlock(&mutex);
    int found = data; // RACE!
    pthread_join(thread, NULL);
#ifndef RACY
    assert(found == 1);
#endif
    return found;
}
