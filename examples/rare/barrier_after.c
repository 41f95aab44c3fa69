// The barrier stands one statement too late. The sections before it come in the same order nearly always.
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static int leader;

static void *quick(void *unused) {
    leader = 1;
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&all);
    return unused;
}

static void *slow(void *unused) {
    usleep(20000);
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    pthread_barrier_wait(&all);
    int seen = leader;
#else
    int seen = leader;
    pthread_barrier_wait(&all);
#endif
    return (void *)(long)seen;
}

int main(void) {
    pthread_t one, other;
    pthread_barrier_init(&all, 0, 2);
    pthread_create(&one, 0, quick, 0);
    pthread_create(&other, 0, slow, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
