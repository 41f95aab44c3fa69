// getopt stores where the argument of an option is in optarg.
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *words[] = {"program", "-a", "value", NULL};

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    getopt(3, words, "a:"); // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    char *found = optarg; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
    return found == words[0];
}
