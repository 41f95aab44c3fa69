/* Sorting by several threads: quicksort over a shared stack of ranges. */
#ifndef QUICKSORT_H
#define QUICKSORT_H

#include <stddef.h>

#include "record.h"

struct quicksort_options {
    unsigned threads; /* at least 1: the caller's own thread is one of them */
    size_t cutoff;    /* ranges up to this length are sorted by insertion */
};

/* What was done, by one worker or by all. */
struct quicksort_statistics {
    size_t ranges;     /* taken from the stack */
    size_t partitions; /* splits in two */
    size_t insertions; /* short ranges */
    size_t heapsorts;  /* ranges that quicksort did badly on */
    size_t most_waiting;
};

void quicksort(struct record *records, size_t count, const struct order *order,
               const struct quicksort_options *options, struct quicksort_statistics *statistics);

#endif
