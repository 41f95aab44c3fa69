// The string that getenv returned may be overwritten when the variable is set again.
#include <pthread.h>
#include <stdlib.h>

static char *value;

static void *worker(void *arg) {
    return value[0] ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    setenv("TWIN_VARIABLE", "1", 1);
    setenv("TWIN_OTHER", "1", 1);
    value = getenv("TWIN_VARIABLE");
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    setenv("TWIN_VARIABLE", "2", 1); // RACE!
#else
    setenv("TWIN_OTHER", "2", 1);
#endif
    pthread_join(thread, NULL);
    return 0;
}
