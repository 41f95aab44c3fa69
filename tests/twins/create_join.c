// Joining a thread orders its writes before what follows.
// Shows: threads: pthreads: creation and joining
#include <pthread.h>

static int result;

static void *worker(void *arg) {
    result = *(int *)arg; // RACE!
    return NULL;
}

int main(void) {
    pthread_t thread;
    int input = 7; // NORACE
    pthread_create(&thread, NULL, worker, &input);
#ifdef RACY
    int seen = result; // RACE!
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    int seen = result;
#endif
    return seen < 0;
}
