/* What the workers found, printed: as it comes, or in the order in which files were found. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "text.h"

/* What was found in one file. */
struct result {
    size_t sequence;
    size_t matches; /* lines that match */
    size_t bytes;
    bool skipped; /* not searched: it is binary or cannot be read */
    struct text text;
};

struct totals {
    size_t files, skipped, matching, matches, bytes;
};

/* A result whose turn has not come. */
struct waiting;

struct output {
    pthread_mutex_t lock;
    FILE *to;
    bool ordered;
    size_t next;             /* whose turn it is, if ordered */
    struct waiting *waiting; /* by sequence */
    struct totals totals;
};

void output_init(struct output *output, FILE *to, bool ordered);

/* Prints a result, or keeps it until its turn; takes over its text. */
void output_add(struct output *output, struct result result);

/* Prints what still waits (after a search that was cancelled there are gaps), and gives the totals. */
struct totals output_finish(struct output *output);

#endif
