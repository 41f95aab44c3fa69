// getcwd returns the buffer that it was given: two names of the same bytes.
#include <pthread.h>
#include <unistd.h>

static char folder[256];

static void *worker(void *arg) {
    folder[0] = '/'; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    char *name = getcwd(folder, sizeof folder);
    if (!name)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    char c = name[0]; // RACE!
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    char c = name[0];
#endif
    return c != '/';
}
