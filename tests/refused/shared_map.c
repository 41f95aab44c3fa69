// A file that is mapped to be written; static engines take all such maps for one.
// Shows: memory: a file that is mapped to be shared and written
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void) {
    int file = open("file", O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 4096) != 0)
        return 1;
    char *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0); // REFUSED maps a file to be written
    if (bytes != MAP_FAILED)
        bytes[0] = 1;
    return 0;
}
