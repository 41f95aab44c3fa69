// Once: a flag of one's own is no once-control.
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int ready, value;

static void set_up(void) {
    value = 3; // RACE!
    ready = 1; // RACE!
}

static int get(void) {
#ifdef RACY
    if (!ready) // RACE!
        set_up();
#else
    pthread_once(&once, set_up);
#endif
    return value; // RACE!
}

static void *worker(void *arg) {
    int *out = arg;
    *out = get(); // NORACE
    return NULL;
}

int main(void) {
    pthread_t thread;
    int theirs;
    (void)once;
    pthread_create(&thread, NULL, worker, &theirs);
    int mine = get();
    pthread_join(thread, NULL);
    return theirs - mine; // NORACE
}
