// Aliases: memcpy copies pointers too.
#include <pthread.h>
#include <string.h>

struct handle {
    int *counter;
    int uses;
};

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle original = {&counter, 0};
static struct handle duplicate;

static void use(struct handle *h) {
    pthread_mutex_lock(&lock);
    ++*h->counter; // RACE!
    pthread_mutex_unlock(&lock);
    h->uses++; // NORACE
}

static void *worker(void *arg) {
    use(&duplicate);
    return arg;
}

int main(void) {
    pthread_t thread;
    memcpy(&duplicate, &original, sizeof original); // NORACE
    pthread_create(&thread, NULL, worker, NULL);
    use(&original);
#ifdef RACY
    *original.counter = 0; // RACE!
#endif
    pthread_join(thread, NULL);
    return counter + duplicate.uses; // NORACE
}
