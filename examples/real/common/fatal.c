#include "fatal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *program_name = "program";

static void say(const char *format, va_list arguments, int error) {
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    if (error != 0) {
        char reason[128] = "";
        if (strerror_r(error, reason, sizeof reason) != 0)
            snprintf(reason, sizeof reason, "error %d", error);
        fprintf(stderr, "%s: %s: %s\n", program_name, text, reason);
    } else {
        fprintf(stderr, "%s: %s\n", program_name, text);
    }
}

void fatal(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments, 0);
    va_end(arguments);
    exit(2);
}

void fatal_errno(const char *format, ...) {
    int error = errno;
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments, error);
    va_end(arguments);
    exit(2);
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments, 0);
    va_end(arguments);
}

void *allocate(size_t count, size_t size) {
    return reallocate(NULL, count, size);
}

void *reallocate(void *old, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size)
        fatal("out of memory");
    size_t bytes = count * size;
    void *memory = realloc(old, bytes == 0 ? 1 : bytes);
    if (memory == NULL)
        fatal("out of memory");
    return memory;
}

void must(int error, const char *what) {
    if (error != 0) {
        errno = error;
        fatal_errno("%s", what);
    }
}
