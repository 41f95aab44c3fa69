// Lazy initialisation: checked by hand it races, with pthread_once it does not.
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int made;

static void make(void) {
    made = 1; // RACE!
}

static void *worker(void *arg) {
#ifdef RACY
    if (!made) // RACE!
        make();
#else
    pthread_once(&once, make);
    if (!made)
        return arg;
#endif
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    (void)once;
    return 0;
}
