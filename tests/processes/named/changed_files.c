// Named: executes another program after it has changed files
#include "../start.h"

int main(void) {
    pthread_t other = thread(nothing);
    int fd = open("made.txt", O_CREAT | O_RDWR | O_TRUNC, 0644);
    assert(write(fd, "x", 1) == 1);
    close(fd);
    system("cat made.txt");
    pthread_join(other, 0);
    return 0;
}
