/* Numbers of a few bits in a row of bytes, the highest bit first. */
#ifndef BITS_H
#define BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where bits are written to. Bytes that do not fit are counted but not stored. */
struct bit_writer {
    unsigned char *bytes;
    size_t capacity;
    size_t length; /* whole bytes so far */
    uint32_t held; /* bits that do not make up a byte yet */
    unsigned count;
};

void bits_put(struct bit_writer *writer, uint32_t value, unsigned count);

/* Fills up the last byte; the number of bytes, or 0 if they did not fit. */
size_t bits_finish(struct bit_writer *writer);

/* Where bits are read from. Behind the end there are zeros, and `overrun` is set. */
struct bit_reader {
    const unsigned char *bytes;
    size_t length;
    size_t next;
    uint32_t held;
    unsigned count;
    bool overrun;
};

uint32_t bits_get(struct bit_reader *reader, unsigned count);

#endif
