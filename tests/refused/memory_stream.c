// A stream over the program's memory.
// Shows: streams: `fmemopen`
#include <stdio.h>

static char text[16];

int main(void) {
    FILE *stream = fmemopen(text, sizeof text, "w"); // REFUSED `fmemopen`
    if (stream != NULL) {
        fputs("x", stream);
        fclose(stream);
    }
    return 0;
}
