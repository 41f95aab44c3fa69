// $ raceproof check wrong_lock.c
// Both threads hold a lock, but not the same one.
#include <pthread.h>

static pthread_mutex_t reader_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t writer_lock = PTHREAD_MUTEX_INITIALIZER;
static int temperature;

static void *sensor(void *arg) {
    (void)arg;
    pthread_mutex_lock(&writer_lock);
    temperature = 21;
    pthread_mutex_unlock(&writer_lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sensor, NULL);
    pthread_mutex_lock(&reader_lock);
    int now = temperature;
    pthread_mutex_unlock(&reader_lock);
    pthread_join(thread, NULL);
    return now > 40;
}
