// A stream that the program's own functions read and write.
// Shows: streams: `fopencookie`
#define _GNU_SOURCE
#include <stdio.h>

static ssize_t take(void *cookie, const char *bytes, size_t count) {
    (void)cookie, (void)bytes;
    return (ssize_t)count;
}

int main(void) {
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take}); // REFUSED `fopencookie`
    if (stream != NULL)
        fclose(stream);
    return 0;
}
