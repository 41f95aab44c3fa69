// What the kernel says of the process's use of memory does not depend on earlier runs.
// Shows: randomness: `/proc/self/stat` and the like: the same in every run
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long pages;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *look(void *arg) {
    char line[512];
    FILE *file = fopen("/proc/self/statm", "r");
    assert(file != 0 && fgets(line, sizeof line, file) != 0);
    fclose(file);
    char *end;
    long all = strtol(line, &end, 10);
    pthread_mutex_lock(&lock);
    pages += strtol(end, 0, 10);
    pthread_mutex_unlock(&lock);
    assert(all > 0);
    return arg;
}

int main(void) {
    pthread_t thread;
    memset(malloc(1 << 20), 1, 1 << 20);
    pthread_create(&thread, 0, look, 0);
    look(0);
    pthread_join(thread, 0);
    return 0;
}
