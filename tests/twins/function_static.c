// A function's static variable is shared by all who call it.
#include <pthread.h>

static int next_id(void) {
#ifdef RACY
    static int last; // NORACE
#else
    static _Thread_local int last;
#endif
    return ++last; // RACE!
}

static void *worker(void *arg) {
    return next_id() ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int id = next_id();
    pthread_join(thread, NULL);
    return id == 9;
}
