// Bytes that the kernel moves from a file to a pipe hand over, too.
#include <fcntl.h>
#include <pthread.h>
#include <sys/sendfile.h>
#include <unistd.h>

static int data;
static int ends[2];

static void *receiver(void *unused) {
    char got;
    read(ends[0], &got, 1);
    data += 1; // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    pipe(ends);
    int file = open("/proc/self/exe", O_RDONLY);
    pthread_create(&thread, NULL, receiver, NULL);
#ifndef RACY
    data = 1;
#endif
    sendfile(ends[1], file, NULL, 1);
#ifdef RACY
    data = 1; // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
