// $ raceproof check lock_order.c
// No data race, but the two transfers can wait for each other for ever.
#include <pthread.h>

static pthread_mutex_t savings = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t checking = PTHREAD_MUTEX_INITIALIZER;
static int moved;

static void *there(void *arg) {
    (void)arg;
    pthread_mutex_lock(&savings);
    pthread_mutex_lock(&checking);
    moved++;
    pthread_mutex_unlock(&checking);
    pthread_mutex_unlock(&savings);
    return NULL;
}

static void *back(void *arg) {
    (void)arg;
    pthread_mutex_lock(&checking);
    pthread_mutex_lock(&savings);
    moved--;
    pthread_mutex_unlock(&savings);
    pthread_mutex_unlock(&checking);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, there, NULL);
    pthread_create(&two, NULL, back, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
