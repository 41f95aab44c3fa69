// Each thread has its own thread-local; its address can still be given away.
#include <pthread.h>

static _Thread_local int mine = 5;
static int *leaked;

static void *worker(void *arg) {
    mine++; // NORACE
    (void)arg;
#ifdef RACY
    *leaked = mine; // RACE!
#endif
    return mine == 6 ? NULL : &leaked;
}

int main(void) {
    pthread_t thread;
    void *result;
    leaked = &mine;
    pthread_create(&thread, NULL, worker, NULL);
    mine++; // RACE!
    pthread_join(thread, &result);
    return result != NULL;
}
