/* One thread reads blocks, some pack or unpack them, one writes them in order. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pipeline_options {
    bool unpack;
    int level;         /* 1 or 2 */
    bool self_check;   /* unpack every block that was packed and compare */
    size_t block_size; /* for packing */
    unsigned workers;
    size_t blocks; /* most blocks under way at once */
};

struct pipeline_totals {
    size_t blocks;
    uint64_t raw, packed;
};

/* From descriptor to descriptor; a negative `to` writes nothing. Any error ends the program. */
struct pipeline_totals pipeline_run(int from, int to, const struct pipeline_options *options);

#endif
