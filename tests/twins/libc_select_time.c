// select stores how much time was left.
// Shows: waiting: `select`, with a limit: it may time out
#include <pthread.h>
#include <sys/select.h>

static struct timeval limits[2] = {{0, 10}, {0, 10}};

static void *worker(void *arg) {
    select(0, NULL, NULL, NULL, &limits[0]); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    long left = limits[0].tv_usec; // RACE!
#else
    long left = limits[1].tv_usec;
#endif
    pthread_join(thread, NULL);
    return left > 10;
}
