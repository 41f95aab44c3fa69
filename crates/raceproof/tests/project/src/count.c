#include "count.h"

#include <pthread.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void bump(void) {
    pthread_mutex_lock(&lock);
    counter++; // RACE!
    pthread_mutex_unlock(&lock);
}

int peek(void) {
    return counter; // RACE!
}
