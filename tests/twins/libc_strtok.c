// strtok keeps its place in hidden state shared by all threads; strtok_r does not.
#include <pthread.h>
#include <string.h>

static void *worker(void *arg) {
    char line[] = "a b"; // NORACE
#ifdef RACY
    strtok(line, " "); // RACE!
#else
    char *save;
    strtok_r(line, " ", &save);
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
