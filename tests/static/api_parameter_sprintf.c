// API parameters: snprintf fills a buffer of the caller's; each thread has its own, or not.
#include <pthread.h>
#include <stdio.h>

#ifdef RACY
static char line[16];
#endif

static void *log_it(void *arg) {
#ifndef RACY
    char line[16];
#endif
    snprintf(line, sizeof line, "thread %d", *(int *)arg); // RACE!
    return line[0] == 't' ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t a, b;
    int first = 1, second = 2;
    pthread_create(&a, NULL, log_it, &first);
    pthread_create(&b, NULL, log_it, &second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return first + second; // NORACE
}
