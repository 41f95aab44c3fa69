#include "lines.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fatal.h"

void lines_read(struct lines *lines, const char *path) {
    int file = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY);
    if (file < 0)
        fatal_errno("%s", path);
    size_t capacity = lines->size;
    for (;;) {
        if (lines->size + 1 >= capacity) { /* room for one more newline */
            capacity = capacity < 2048 ? 4096 : capacity * 2;
            lines->buffer = reallocate(lines->buffer, capacity, 1);
        }
        ssize_t got = read(file, lines->buffer + lines->size, capacity - lines->size - 1);
        if (got < 0)
            fatal_errno("%s", path);
        if (got == 0)
            break;
        lines->size += (size_t)got;
    }
    if (lines->size > 0 && lines->buffer[lines->size - 1] != '\n')
        lines->buffer[lines->size++] = '\n';
    if (file != STDIN_FILENO)
        close(file);
}

void lines_split(struct lines *lines, const struct order *order) {
    size_t count = 0;
    for (size_t i = 0; i < lines->size; i++)
        count += lines->buffer[i] == '\n';
    lines->records = allocate(count, sizeof *lines->records);
    lines->count = count;
    const char *at = lines->buffer;
    for (size_t i = 0; i < count; i++) {
        const char *end = memchr(at, '\n', (size_t)(lines->buffer + lines->size - at));
        struct record *record = &lines->records[i];
        memset(record, 0, sizeof *record);
        record->line = at;
        record->length = (size_t)(end - at);
        record_parse(order, record);
        at = end + 1;
    }
}

void lines_write(const struct lines *lines, const struct order *order, bool unique, FILE *to) {
    for (size_t i = 0; i < lines->count; i++) {
        const struct record *record = &lines->records[i];
        if (unique && i > 0 && record_compare_keys(order, record - 1, record) == 0)
            continue;
        fwrite(record->line, 1, record->length, to);
        putc('\n', to);
    }
}

void lines_free(struct lines *lines) {
    free(lines->records);
    free(lines->buffer);
    *lines = (struct lines){0};
}
