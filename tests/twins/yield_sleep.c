// Neither yielding nor sleeping orders anything.
// Shows: time: `nanosleep` and its relatives: the schedule decides when they end
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

static int data;

static void *worker(void *arg) {
    data = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    struct timespec while_ = {.tv_nsec = 1000};
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    sched_yield();
    sleep(1);
    usleep(10);
    nanosleep(&while_, NULL);
    data = 2; // RACE!
#endif
    pthread_join(thread, NULL);
    return while_.tv_nsec == 1;
}
