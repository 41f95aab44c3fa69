// Two threads cannot parse options at once: getopt_long keeps its position in variables.
#include <getopt.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct option options[] = {{"all", 0, 0, 'a'}, {0, 0, 0, 0}};

static void *worker(void *arg) {
    char program[] = "program", option[] = "--all";
    char *words[] = {program, option, 0};
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    optind = 1;                                // RACE!
    getopt_long(2, words, "a", options, NULL); // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
