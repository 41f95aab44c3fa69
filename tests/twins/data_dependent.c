// The element written depends on shared data: only some schedules touch the same one.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int index_;
static int slot[2];

static void *worker(void *arg) {
#ifdef RACY
    slot[index_] = 1; // RACE!
#else
    slot[0] = 1;
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    index_ = 1; // NORACE
    slot[1] = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
