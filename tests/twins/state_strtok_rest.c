// strtok goes on in the string that an earlier call was given, and writes there.
#include <pthread.h>
#include <string.h>

static char line[] = "a b c";

static void *worker(void *arg) {
    return strtok(NULL, " ") ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    strtok(line, " ");
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    char c = line[3]; // RACE!
#else
    char c = line[4];
#endif
    pthread_join(thread, NULL);
    return c == 0;
}
