// Copying a struct reads all of it.
#include <pthread.h>

struct point {
    long x, y, z[4];
};
static struct point shared, other;

static void *worker(void *arg) {
#ifdef RACY
    shared.z[3] = 1; // RACE!
#else
    other.z[3] = 1;
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    struct point mine = shared; // RACE!
    pthread_join(thread, NULL);
    return mine.x == 9;
}
