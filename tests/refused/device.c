// A device that is written to.
// Shows: descriptors: devices that are written to
#include <fcntl.h>

int main(void) {
    return open("/dev/tty", O_RDWR) < -1; // REFUSED `/dev/tty`
}
