/* Finding a fixed text: Boyer, Moore, Horspool. */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdbool.h>
#include <stddef.h>

struct pattern {
    unsigned char *text; /* in lower case if case does not count */
    size_t length;
    bool fold_case;
    bool whole_words;
    size_t skip[256]; /* how far to move on when the window ends in this byte */
};

/* What is looked for; not changed afterwards, so any thread may use it. */
void pattern_compile(struct pattern *pattern, const char *text, bool fold_case, bool whole_words);
void pattern_free(struct pattern *pattern);

/* The first occurrence from `start` on, or NULL. */
const char *pattern_find(const struct pattern *pattern, const char *start, const char *end);

#endif
