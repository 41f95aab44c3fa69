/* Which files are searched. */
#ifndef WALK_H
#define WALK_H

#include <stdbool.h>
#include <stddef.h>

struct walk_options {
    bool hidden;          /* files and directories whose names start with a dot, too */
    const char **endings; /* only files whose names end so; all if there are none */
    size_t ending_count;
    unsigned depth; /* how far to go down */
};

/* What is done with a file; false to stop. The path is the function's to keep or free. */
typedef bool walk_visit(void *context, char *path);

/* Visits a file, or those in a directory and below, in the order of their names. False if it was stopped. */
bool walk(const char *path, const struct walk_options *options, walk_visit *visit, void *context);

#endif
