// getline writes to the block that its argument points to by another pointer.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char *block;

static void *worker(void *arg) {
    return block[0] ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    FILE *file = tmpfile();
    if (!file || fputs("line\n", file) < 0 || fseek(file, 0, SEEK_SET))
        return 1;
    size_t size = 64;
    char *line = malloc(size);
    block = line;
    line[0] = 0;
#ifdef RACY
    pthread_create(&thread, NULL, worker, NULL);
    ssize_t len = getline(&line, &size, file); // RACE!
#else
    ssize_t len = getline(&line, &size, file);
    pthread_create(&thread, NULL, worker, NULL);
#endif
    pthread_join(thread, NULL);
    fclose(file);
    free(line);
    return len != 5;
}
