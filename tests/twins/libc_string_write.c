// strcat, strncpy and strtok write.
#include <pthread.h>
#include <string.h>

static char line[32] = "one two", target[32] = "x";

static void *worker(void *arg) {
#ifdef RACY
    char first = target[2]; // RACE!
    return first ? arg : line[3] ? NULL : arg; // RACE!
#else
    return arg;
#endif
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    strcat(target, "yz"); // RACE!
    char *word = strtok(line, " "); // RACE!
    pthread_join(thread, NULL);
    return word == NULL;
}
