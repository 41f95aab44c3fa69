// setenv changes the environment that getenv searches.
#include <pthread.h>
#include <stdlib.h>

static void *worker(void *arg) {
    return getenv("TWIN_VARIABLE") ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
#ifdef RACY
    pthread_create(&thread, NULL, worker, NULL);
    setenv("TWIN_VARIABLE", "1", 1); // RACE!
#else
    setenv("TWIN_VARIABLE", "1", 1);
    pthread_create(&thread, NULL, worker, NULL);
#endif
    pthread_join(thread, NULL);
    return 0;
}
