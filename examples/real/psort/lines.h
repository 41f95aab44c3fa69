/* Files of lines. */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "record.h"

struct lines {
    char *buffer; /* everything that was read */
    size_t size;
    struct record *records;
    size_t count;
};

/* Adds the content of a file, `-` for standard input. */
void lines_read(struct lines *lines, const char *path);

/* Finds the lines of what was read, and their keys. */
void lines_split(struct lines *lines, const struct order *order);

/* Writes the lines; with `unique`, only the first of those with equal keys. */
void lines_write(const struct lines *lines, const struct order *order, bool unique, FILE *to);

void lines_free(struct lines *lines);

#endif
