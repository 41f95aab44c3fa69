// A descriptor that tells of changes of files.
// Shows: descriptors: `inotify_init`
#include <sys/inotify.h>

int main(void) {
    return inotify_init() < 0; // REFUSED `inotify_init`
}
