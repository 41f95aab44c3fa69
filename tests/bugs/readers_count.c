// Readers and writers (Courtois, Heymans and Parnas, 1971) whose last reader leaves without the lock of the count.
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t entry = PTHREAD_MUTEX_INITIALIZER;
static sem_t writing;
static int readers, value;

static void start_read(void) {
    pthread_mutex_lock(&entry);
    if (++readers == 1) // RACE!
        sem_wait(&writing);
    pthread_mutex_unlock(&entry);
}

static void end_read(void) {
#ifdef RIGHT
    pthread_mutex_lock(&entry);
#endif
    if (--readers == 0) // RACE!
        sem_post(&writing);
#ifdef RIGHT
    pthread_mutex_unlock(&entry);
#endif
}

static void *reader(void *arg) {
    start_read();
    int seen = value; // RACE
    end_read();
    return seen >= 0 ? arg : NULL;
}

static void *writer(void *arg) {
    sem_wait(&writing); // DEADLOCK
    value++; // RACE
    sem_post(&writing);
    return arg;
}

int main(void) {
    pthread_t threads[3];
    sem_init(&writing, 0, 1);
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_create(&threads[2], NULL, writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL); // DEADLOCK
    return 0;
}
