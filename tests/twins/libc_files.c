// Reading a file into a buffer writes the buffer.
// Shows: input: files and folders
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char line[32];

static void *worker(void *arg) {
#ifdef RACY
    return line[0] ? arg : NULL; // RACE!
#else
    return arg;
#endif
}

int main(void) {
    pthread_t thread;
    FILE *file = fopen("twin-scratch.txt", "w");
    if (!file)
        return 1;
    fputs("first\nsecond\n", file);
    fclose(file);
    file = fopen("twin-scratch.txt", "r");
    if (!file)
        return 2;
    pthread_create(&thread, NULL, worker, NULL);
    char *got = fgets(line, sizeof line, file); // RACE!
    pthread_join(thread, NULL);
    fclose(file);
    remove("twin-scratch.txt");
    return got == NULL || strcmp(line, "first\n") != 0;
}
