// A barrier can be used again; phases do not mix.
// Shows: threads: barriers
#include <pthread.h>

static pthread_barrier_t barrier;
static int cell[2];

static void *worker(void *arg) {
    cell[1] = 1; // NORACE
    pthread_barrier_wait(&barrier);
    int seen = cell[0]; // RACE!
    pthread_barrier_wait(&barrier);
    cell[1] = seen; // NORACE
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, worker, NULL);
    cell[0] = 1; // NORACE
    pthread_barrier_wait(&barrier);
#ifdef RACY
    cell[0] = 2; // RACE!
    pthread_barrier_wait(&barrier);
#else
    pthread_barrier_wait(&barrier);
    cell[0] = 2;
#endif
    pthread_join(thread, NULL);
    return 0;
}
