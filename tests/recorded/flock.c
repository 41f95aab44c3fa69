// Threads that opened a file each for itself exclude each other by its lock.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static char name[] = "/tmp/raceproof-XXXXXX";
static int data;

static void *worker(void *unused) {
    int file = open(name, O_RDWR);
#ifndef RACY
    flock(file, LOCK_EX);
#endif
    data++; // RACE!
#ifndef RACY
    flock(file, LOCK_UN);
#endif
    close(file);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    close(mkstemp(name));
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    unlink(name);
    return 0;
}
