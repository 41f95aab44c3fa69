// A bounded buffer with condition variables. All of it is under its lock but for the high-water mark, which the producer
// raises before it enters and the consumer lowers after it has left.
#include <pthread.h>
#include <unistd.h>

#define ROOM 2
#define ITEMS 3

static int buffer[ROOM];
static int first, held;
static int high_water;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;

static void put(int item) {
    pthread_mutex_lock(&lock);
    while (held == ROOM)
        pthread_cond_wait(&not_full, &lock);
    buffer[(first + held) % ROOM] = item;
    held++;
#ifdef FIXED
    if (held > high_water)
        high_water = held;
#endif
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static int get(void) {
    pthread_mutex_lock(&lock);
    while (held == 0)
        pthread_cond_wait(&not_empty, &lock);
    int item = buffer[first];
    first = (first + 1) % ROOM;
    held--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return item;
}

static void *produce(void *unused) {
#ifndef FIXED
    high_water = 1;
#endif
    for (int i = 1; i <= ITEMS; i++)
        put(i);
    return unused;
}

static void *consume(void *unused) {
    long sum = 0;
    for (int i = 0; i < ITEMS; i++) {
        sum += get();
        usleep(5000);
    }
    return sum == 6 ? unused : &high_water;
}

// Empties the statistics now and then; here, once.
static void *watch(void *unused) {
    usleep(30000);
    pthread_mutex_lock(&lock);
#ifdef FIXED
    high_water = held;
    pthread_mutex_unlock(&lock);
#else
    int now = held;
    pthread_mutex_unlock(&lock);
    high_water = now;
#endif
    return unused;
}

int main(void) {
    pthread_t threads[3];
    void *(*jobs[3])(void *) = {produce, consume, watch};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, jobs[i], 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
