// `getopt` lets `optarg` point into the words that it is given, here an array that the program made.
#include <pthread.h>
#include <unistd.h>

static char option[] = "-nvalue";
static char other[] = "-nvalue";

static void *writer(void *arg) {
#ifdef RACY
    option[2] = 'V'; // RACE!
#else
    other[2] = 'V'; // NORACE
#endif
    return arg;
}

int main(void) {
    char *words[] = {"words", option, NULL};
    pthread_t thread;
    if (getopt(2, words, "n:") != 'n')
        return 1;
    pthread_create(&thread, NULL, writer, other);
    optarg[0] = 'W'; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
