#include "search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fatal.h"

static unsigned char folded(const struct pattern *pattern, char c) {
    unsigned char byte = (unsigned char)c;
    return pattern->fold_case && byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte + 32) : byte;
}

void pattern_compile(struct pattern *pattern, const char *text, bool fold_case, bool whole_words) {
    size_t length = strlen(text);
    if (length == 0)
        fatal("nothing to look for");
    *pattern = (struct pattern){.length = length, .fold_case = fold_case, .whole_words = whole_words};
    pattern->text = allocate(length, 1);
    for (size_t i = 0; i < length; i++)
        pattern->text[i] = folded(pattern, text[i]);
    for (size_t byte = 0; byte < 256; byte++)
        pattern->skip[byte] = length;
    for (size_t i = 0; i + 1 < length; i++)
        pattern->skip[pattern->text[i]] = length - 1 - i;
}

void pattern_free(struct pattern *pattern) {
    free(pattern->text);
}

static bool in_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static bool matches(const struct pattern *pattern, const char *at) {
    for (size_t i = pattern->length; i-- > 0;)
        if (folded(pattern, at[i]) != pattern->text[i])
            return false;
    return true;
}

const char *pattern_find(const struct pattern *pattern, const char *start, const char *end) {
    const char *at = start;
    while ((size_t)(end - at) >= pattern->length) {
        const char *behind = at + pattern->length;
        if (matches(pattern, at)) {
            bool is_word = (at == start || !in_word(at[-1])) && (behind == end || !in_word(*behind));
            if (!pattern->whole_words || is_word)
                return at;
        }
        at += pattern->skip[folded(pattern, behind[-1])];
    }
    return NULL;
}
