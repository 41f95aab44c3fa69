// Acquisition histories: the locksets at the two accesses to x are disjoint, but each thread took the other's lock while
// it held its own, so they cannot both be there. (Taking the locks in opposite orders can block the program for ever.)
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

static void *left(void *arg) {
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second); // DEADLOCK
    y = 1; // NORACE
    pthread_mutex_unlock(&second);
    x = 3; // RACE!
    pthread_mutex_unlock(&first);
    return arg;
}

static void *right(void *arg) {
    pthread_mutex_lock(&second);
#ifdef RACY
    x = 0; // RACE!
#endif
    pthread_mutex_lock(&first); // DEADLOCK
    y = 2; // NORACE
    pthread_mutex_unlock(&first);
    x = 2; // NORACE
    pthread_mutex_unlock(&second);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL); // DEADLOCK
    pthread_join(b, NULL);
    return x + y; // NORACE
}
