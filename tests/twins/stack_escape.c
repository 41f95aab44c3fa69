// A local given to a thread has to outlive it, and is shared while it runs.
#include <pthread.h>

static void *worker(void *arg) {
    *(int *)arg = 1; // RACE!
    return NULL;
}

int main(void) {
    pthread_t thread;
    int local = 0;
    int own = 0;
    own++; // NORACE
    pthread_create(&thread, NULL, worker, &local);
#ifdef RACY
    local++; // RACE!
#endif
    pthread_join(thread, NULL);
    return local == 9 && own;
}
