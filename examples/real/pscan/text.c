#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fatal.h"

static void make_room(struct text *text, size_t more) {
    if (text->room - text->length >= more)
        return;
    text->room = 2 * text->room + more;
    text->bytes = reallocate(text->bytes, text->room, 1);
}

void text_append(struct text *text, const char *bytes, size_t length) {
    if (length == 0)
        return;
    make_room(text, length);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

void text_format(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    make_room(text, (size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void text_free(struct text *text) {
    free(text->bytes);
    *text = (struct text){0};
}
