// Printing to `stderr` does not write the variable `stderr`; setting it does.
#include <pthread.h>
#include <stdio.h>

#ifdef RACY
static FILE *log_file;
#else
#define log_file stderr
#endif

static void *work(void *arg) {
#ifdef RACY
    log_file = stderr; // RACE!
#endif
    fprintf(log_file, "working\n"); // NORACE
    return arg;
}

int main(void) {
    pthread_t thread;
#ifdef RACY
    log_file = stderr;
#endif
    pthread_create(&thread, NULL, work, NULL);
    fprintf(log_file, "waiting\n"); // RACE!
    pthread_join(thread, NULL);
    return 0;
}
