// Locks of fcntl that belong to an open file exclude threads.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static char name[] = "/tmp/raceproof-XXXXXX";
static int data;

static void *worker(void *unused) {
    int file = open(name, O_RDWR);
#ifndef RACY
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(file, F_OFD_SETLKW, &lock);
#endif
    data++; // RACE!
#ifndef RACY
    lock.l_type = F_UNLCK;
    fcntl(file, F_OFD_SETLK, &lock);
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
