// strtok_r with a null pointer goes on where the saved pointer says, and writes there.
#include <pthread.h>
#include <string.h>

static char line[] = "a b c";
static char *rest;

static void *worker(void *arg) {
    return strtok_r(NULL, " ", &rest) ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    strtok_r(line, " ", &rest);
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    char c = line[3]; // RACE!
#else
    char c = line[4];
#endif
    pthread_join(thread, NULL);
    return c == 0;
}
