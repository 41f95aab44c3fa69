// A lock on a file.
// Shows: descriptors: locks on files (`flock`)
#include <fcntl.h>
#include <sys/file.h>

int main(void) {
    int file = open("file", O_RDWR | O_CREAT, 0600);
    return flock(file, LOCK_EX); // REFUSED `flock`
}
