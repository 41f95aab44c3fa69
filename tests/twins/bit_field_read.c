// Reading one bit-field reads the unit that a neighbour's write changes.
#include <pthread.h>

static struct {
    unsigned a : 5;
    unsigned b : 11;
    unsigned short c;
} flags;

static void *worker(void *arg) {
#ifdef RACY
    flags.b = 9; // RACE!
#else
    flags.c = 9;
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int seen = flags.a; // RACE!
    pthread_join(thread, NULL);
    return seen == 31;
}
