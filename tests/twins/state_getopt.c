// getopt advances optind, which another thread may not read at the same time.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static void *worker(void *arg) {
    char program[] = "program", option[] = "-a";
    char *words[] = {program, option, NULL};
    int found = getopt(2, words, "a"); // RACE!
    assert(found == 'a');
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    int next = optind; // RACE!
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    int next = optind;
    assert(next == 2);
#endif
    (void)next;
    return 0;
}
