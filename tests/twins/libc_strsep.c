// strsep ends the token in the string that its argument points to by another pointer.
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <string.h>

static char line[] = "a b";

static void *worker(void *arg) {
    char *rest = line;
    return strsep(&rest, " ") ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    char c = line[1]; // RACE!
#else
    char c = line[2];
#endif
    pthread_join(thread, NULL);
    return c == 'x';
}
