// Arrays of locks: the next element is protected by the next lock, not by the one at hand.
#include <pthread.h>

struct cell {
    int used, value;
};

static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static struct cell cells[3];

static void push_right(int i, int value) {
#ifdef RACY
    pthread_mutex_lock(&locks[i]);
    cells[i + 1].value = value; // RACE!
    pthread_mutex_unlock(&locks[i]);
#else
    pthread_mutex_lock(&locks[i + 1]);
    cells[i + 1].value = value; // NORACE
    pthread_mutex_unlock(&locks[i + 1]);
#endif
}

static void take(int i, int *value) {
    pthread_mutex_lock(&locks[i]);
    *value = cells[i].value; // RACE!
    pthread_mutex_unlock(&locks[i]);
}

static void *worker(void *arg) {
    push_right(0, 7);
    return arg;
}

int main(void) {
    pthread_t thread;
    int value = 0;
    pthread_create(&thread, NULL, worker, NULL);
    take(1, &value);
    pthread_join(thread, NULL);
    return value; // NORACE
}
