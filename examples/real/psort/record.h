/* What is sorted: lines with a key. */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key_kind {
    KEY_TEXT,    /* bytes, or letters without regard to case */
    KEY_INTEGER, /* a whole number; 0 where there is none */
    KEY_REAL,    /* a number with a fraction */
    KEY_LENGTH,  /* how long the line is */
};

/* How lines are ordered. */
struct order {
    enum key_kind kind;
    unsigned field; /* which word of the line is the key, from 1; 0: the whole line */
    bool fold_case;
    bool reverse;
};

struct record {
    const char *line; /* all lines lie in one buffer in the order of the input */
    size_t length;
    const char *text; /* the key, unless it is a number */
    size_t text_length;
    union {
        int64_t integer;
        double real;
    } key;
};

/* Fills in a record's key. */
void record_parse(const struct order *order, struct record *record);

/* Negative, zero or positive. Only keys count. */
int record_compare_keys(const struct order *order, const struct record *a, const struct record *b);

/* A total order: equal keys come in the order of the input, so that the result does not depend on the threads. */
int record_compare(const struct order *order, const struct record *a, const struct record *b);

/* A number by which two collections of lines differ, almost surely, unless they are the same. */
uint64_t record_hash(const struct record *record);

#endif
