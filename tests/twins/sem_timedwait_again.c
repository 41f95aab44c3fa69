// A semaphore that is waited for with a time limit, again and again: it may time out a few times. The racy twin writes what
// was waited for after it has posted.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t ready;
static int data;

static void *produce(void *arg) {
    (void)arg;
#ifdef RACY
    sem_post(&ready);
    data = 1; // RACE!
#else
    data = 1;
    sem_post(&ready);
#endif
    return NULL;
}

int main(void) {
    sem_init(&ready, 0, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, produce, NULL);
    struct timespec limit;
    do {
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec++;
    } while (sem_timedwait(&ready, &limit) != 0);
    int found = data; // RACE!
    pthread_join(thread, NULL);
#ifndef RACY
    assert(found == 1);
#endif
    return found;
}
