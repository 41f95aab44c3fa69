// Two threads exclude each other with `flock`, each with an open file of its own. Racy: they share one, which has the lock already.
// Shows: descriptors: locks on files (`flock`, and those of open files with `fcntl`)
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

static int count, shared;

static void *work(void *arg) {
#ifdef RACY
    int file = shared;
#else
    int file = open("file", O_RDWR | O_CREAT, 0600);
#endif
    assert(flock(file, LOCK_EX) == 0);
    count++; // RACE!
    assert(flock(file, LOCK_UN) == 0);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    shared = open("file", O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    int one = open("file", O_RDWR), other = open("file", O_RDWR);
    struct flock part = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2, .l_len = 4}, asked = part;
    assert(fcntl(one, F_OFD_SETLK, &part) == 0);
    assert(fcntl(other, F_OFD_SETLK, &part) == -1 && (errno == EAGAIN || errno == EACCES));
    assert(fcntl(other, F_OFD_GETLK, &asked) == 0 && asked.l_type == F_WRLCK && asked.l_start == 2 && asked.l_len == 4);
    part.l_start = 6;
    assert(fcntl(other, F_OFD_SETLK, &part) == 0);
    close(one);
    part.l_start = 0;
    assert(fcntl(other, F_OFD_SETLK, &part) == 0);
    assert(flock(shared, LOCK_SH) == 0 && flock(other, LOCK_SH | LOCK_NB) == 0);
    assert(flock(other, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK);
    close(shared);
    assert(flock(other, LOCK_EX | LOCK_NB) == 0);
    unlink("file");
    return count != 2;
}
