// A stream whose bytes go to another thread.
// Shows: streams: a stream (`FILE *`) of a pipe or socket
#include <stdio.h>
#include <unistd.h>

int main(void) {
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    FILE *stream = fdopen(ends[1], "w"); // REFUSED makes a stream of a pipe or socket
    return stream == NULL;
}
