// $ raceproof check library.c
// A library has no `main`: nothing can run.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int uses;

void use(void) {
    pthread_mutex_lock(&lock);
    uses++;
    pthread_mutex_unlock(&lock);
}

int uses_so_far(void) {
    return uses;
}
