// May happen in parallel: a thread created once does not run in parallel with itself.
#include <pthread.h>

static int state, steps;

static void advance(void) {
    state++; // RACE!
    steps += state; // RACE!
}

static void *machine(void *arg) {
    advance();
    advance();
    return arg;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, NULL, machine, NULL);
#ifdef RACY
    pthread_t b;
    pthread_create(&b, NULL, machine, NULL);
    pthread_join(b, NULL);
#endif
    pthread_join(a, NULL);
    return steps; // NORACE
}
