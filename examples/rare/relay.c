// Three threads in a chain of sections that happen to come in order. The ends of the chain race.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static int hops;
static int steps;

static void *start(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&a);
    shared = 1;
    hops++;
#else
    shared = 1;
    pthread_mutex_lock(&a);
    hops++;
#endif
    pthread_mutex_unlock(&a);
    return unused;
}

static void *middle(void *unused) {
    usleep(15000);
    pthread_mutex_lock(&a);
    hops++;
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&b);
    steps++;
    pthread_mutex_unlock(&b);
    return unused;
}

static void *end(void *unused) {
    usleep(40000);
    pthread_mutex_lock(&b);
    steps++;
#ifdef FIXED
    pthread_mutex_unlock(&b);
    pthread_mutex_lock(&a);
    shared = 2;
    pthread_mutex_unlock(&a);
#else
    pthread_mutex_unlock(&b);
    shared = 2;
#endif
    return unused;
}

int main(void) {
    pthread_t threads[3];
    void *(*jobs[3])(void *) = {start, middle, end};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, jobs[i], 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
