/* Searching many files with several threads. */
#ifndef SCAN_H
#define SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "output.h"
#include "search.h"
#include "walk.h"

struct scan_options {
    unsigned workers;
    size_t queue_room;
    bool ordered;
    bool first_only;   /* stop everything at the first match */
    bool count_only;   /* print how many lines match in each file */
    bool names_only;   /* print the names of files that match */
    bool line_numbers;
    bool binary; /* search files with zero bytes, too */
    struct walk_options walk;
};

struct scan_statistics {
    struct totals totals;
    size_t most_queued;
    size_t fewest, most; /* files by the laziest and the busiest worker */
};

struct scan_statistics scan(const struct pattern *pattern, char **paths, size_t count,
                            const struct scan_options *options, FILE *to);

#endif
