/* Text that grows. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

struct text {
    char *bytes;
    size_t length, room;
};

void text_append(struct text *text, const char *bytes, size_t length);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

#endif
