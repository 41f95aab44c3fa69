// A function is missing: it gets a pointer to shared data, with the lock held or without it.
#include <pthread.h>

struct stats {
    long count;
    long sum;
};

void update(struct stats *stats, long value);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stats stats;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    update(&stats, 3);
    stats.count++; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    stats.count = 0; // RACE!
#else
    pthread_mutex_lock(&lock);
    stats.count = 0; // NORACE
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
    return (int)stats.count; // NORACE
}

#ifdef MODEL
void update(struct stats *stats, long value) {
    stats->sum += value;
}
#endif
