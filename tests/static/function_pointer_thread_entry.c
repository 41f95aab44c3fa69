// Function pointers: the thread function is found through a pointer in a structure.
#include <pthread.h>

struct role {
    const char *name;
    void *(*run)(void *);
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue_length, logged;

static void *produce(void *arg) {
    pthread_mutex_lock(&lock);
    queue_length++; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *observe(void *arg) {
#ifdef RACY
    logged = queue_length; // RACE!
#else
    pthread_mutex_lock(&lock);
    logged = queue_length; // NORACE
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

static const struct role roles[2] = {{"producer", produce}, {"observer", observe}};

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, roles[i].run, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return logged + queue_length; // NORACE
}
