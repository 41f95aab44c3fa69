// Bounded buffer with semaphores (Dijkstra, 1965) whose producer waits for room while it holds the buffer's lock.
#include <pthread.h>
#include <semaphore.h>

enum { SIZE = 1, ITEMS = 2 };

static sem_t room, filled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items[SIZE], first, count;

static void put(int item) {
#ifdef RIGHT
    sem_wait(&room);
    pthread_mutex_lock(&lock);
#else
    pthread_mutex_lock(&lock);
    sem_wait(&room); // DEADLOCK
#endif
    items[(first + count++) % SIZE] = item;
    pthread_mutex_unlock(&lock);
    sem_post(&filled);
}

static int get(void) {
    sem_wait(&filled);
    pthread_mutex_lock(&lock); // DEADLOCK
    int item = items[first];
    first = (first + 1) % SIZE;
    count--;
    pthread_mutex_unlock(&lock);
    sem_post(&room);
    return item;
}

static void *producer(void *arg) {
    for (int i = 1; i <= ITEMS; i++)
        put(i);
    return arg;
}

int main(void) {
    pthread_t thread;
    int sum = 0;
    sem_init(&room, 0, SIZE);
    sem_init(&filled, 0, 0);
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 0; i < ITEMS; i++)
        sum += get();
    pthread_join(thread, NULL);
    return sum == 3 ? 0 : 1;
}
