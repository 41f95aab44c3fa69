#include "lz.h"

#include <stdint.h>
#include <string.h>

#define TABLE_BITS 12
#define LONG 15

size_t lz_bound(size_t length) {
    return length + length / 255 + 16;
}

/* Where four bytes like these were seen last. */
static unsigned hash(const unsigned char *at) {
    uint32_t four = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    return four * 2654435761u >> (32 - TABLE_BITS);
}

static unsigned char *put_rest(unsigned char *to, size_t number) {
    if (number < LONG)
        return to;
    for (number -= LONG; number >= 255; number -= 255)
        *to++ = 255;
    *to++ = (unsigned char)number;
    return to;
}

/* One token: literals, and a copy unless it is the last. */
static unsigned char *put_token(unsigned char *to, const unsigned char *literals, size_t count, size_t copy,
                                size_t distance) {
    size_t extra = copy == 0 ? 0 : copy - LZ_SHORTEST;
    *to++ = (unsigned char)((count < LONG ? count : LONG) << 4 | (extra < LONG ? extra : LONG));
    to = put_rest(to, count);
    memcpy(to, literals, count);
    to += count;
    if (copy != 0) {
        *to++ = (unsigned char)distance;
        *to++ = (unsigned char)(distance >> 8);
        to = put_rest(to, extra);
    }
    return to;
}

static size_t common(const unsigned char *a, const unsigned char *b, const unsigned char *end) {
    const unsigned char *start = b;
    while (b < end && *a == *b) {
        a++;
        b++;
    }
    return (size_t)(b - start);
}

size_t lz_pack(const unsigned char *from, size_t length, unsigned char *to) {
    uint32_t seen[1 << TABLE_BITS]; /* position + 1 */
    unsigned char *start = to;
    size_t at = 0, literals = 0;
    memset(seen, 0, sizeof seen);
    while (at + LZ_SHORTEST <= length) {
        unsigned slot = hash(from + at);
        size_t before = seen[slot];
        seen[slot] = (uint32_t)at + 1;
        if (before-- == 0 || at - before > LZ_FARTHEST) {
            at++;
            continue;
        }
        size_t copy = common(from + before, from + at, from + length);
        if (copy < LZ_SHORTEST) {
            at++;
            continue;
        }
        to = put_token(to, from + literals, at - literals, copy, at - before);
        at += copy;
        literals = at;
    }
    to = put_token(to, from + literals, length - literals, 0, 0);
    return (size_t)(to - start);
}

/* Adds the further bytes of a number; false at the end. */
static int get_rest(const unsigned char **from, const unsigned char *end, size_t *number) {
    if (*number < LONG)
        return 1;
    unsigned char byte;
    do {
        if (*from == end)
            return 0;
        byte = *(*from)++;
        *number += byte;
    } while (byte == 255);
    return 1;
}

size_t lz_unpack(const unsigned char *from, size_t length, unsigned char *to, size_t room) {
    const size_t damaged = (size_t)-1;
    const unsigned char *end = from + length;
    size_t done = 0;
    while (from < end) {
        unsigned char token = *from++;
        size_t literals = token >> 4, copy = token & LONG;
        if (!get_rest(&from, end, &literals) || literals > (size_t)(end - from) || literals > room - done)
            return damaged;
        memcpy(to + done, from, literals);
        done += literals;
        from += literals;
        if (from == end)
            return done;
        if (end - from < 2)
            return damaged;
        size_t distance = from[0] | (size_t)from[1] << 8;
        from += 2;
        if (!get_rest(&from, end, &copy))
            return damaged;
        copy += LZ_SHORTEST;
        if (distance == 0 || distance > done || copy > room - done)
            return damaged;
        for (size_t i = 0; i < copy; i++, done++)
            to[done] = to[done - distance]; /* may overlap itself */
    }
    return damaged; /* the last token has no copy */
}
