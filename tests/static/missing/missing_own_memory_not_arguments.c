// A function is missing: it returns memory of its own, which is no text of the program's arguments unless it was given one.
#include <pthread.h>
#include <stddef.h>

char *row_of(char *name);

static void *marker(void *arg) {
#ifdef RACY
    char *row = row_of(arg);
#else
    char *row = row_of(NULL);
#endif
    row[0] = 'x'; // RACE!
    return arg;
}

int main(int argc, char **argv) {
    pthread_t thread;
    pthread_create(&thread, NULL, marker, argv[0]);
    argv[0][0] = 'y'; // RACE!
    pthread_join(thread, NULL);
    return argc > 5;
}

#ifdef MODEL
char *row_of(char *name) {
    static char own[8];
    return name ? name : own;
}
#endif
