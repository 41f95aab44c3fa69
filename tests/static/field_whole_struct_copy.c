// Field by field: copying a whole structure touches each of its fields.
#include <pthread.h>

struct sample {
    long time;
    int value;
    int quality;
};

static struct sample latest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sensor(void *arg) {
    struct sample fresh = {100, 42, 1};
    pthread_mutex_lock(&lock);
    latest = fresh; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sensor, NULL);
    struct sample copy;
    pthread_mutex_lock(&lock);
    copy = latest; // NORACE
    pthread_mutex_unlock(&lock);
#ifdef RACY
    copy.quality = latest.quality; // RACE!
#endif
    pthread_join(thread, NULL);
    return copy.value + copy.quality; // NORACE
}
