// The table of hsearch belongs to all threads, and the library does not lock it.
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    ENTRY entry = {"key", NULL};
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    ENTRY *found = hsearch(entry, ENTER); // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return found ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    hcreate(8);
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    hdestroy();
    return 0;
}
