// A stream that stores where it writes to.
// Shows: streams: `open_memstream`
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length); // REFUSED `open_memstream`
    if (stream != NULL) {
        fputs("x", stream);
        fclose(stream);
    }
    free(text);
    return 0;
}
