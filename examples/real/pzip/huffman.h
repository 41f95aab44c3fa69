/* Canonical Huffman codes of limited length. */
#ifndef HUFFMAN_H
#define HUFFMAN_H

#include <stdbool.h>
#include <stdint.h>

#include "bits.h"

#define HUFFMAN_SYMBOLS 256
#define HUFFMAN_LONGEST 15

struct huffman {
    unsigned char length[HUFFMAN_SYMBOLS]; /* 0: does not occur */
    uint16_t code[HUFFMAN_SYMBOLS];
};

/* A code for symbols that occur this often. */
void huffman_build(struct huffman *code, const uint32_t frequency[HUFFMAN_SYMBOLS]);

/* Writes or reads the lengths, which are all there is to know. Reading fails for lengths that are no code. */
void huffman_write(const struct huffman *code, struct bit_writer *to);
bool huffman_read(struct huffman *code, struct bit_reader *from);

void huffman_put(const struct huffman *code, unsigned symbol, struct bit_writer *to);

/* What is needed to decode: symbols in the order of their codes. */
struct huffman_decoder {
    uint16_t count[HUFFMAN_LONGEST + 1]; /* codes of each length */
    uint16_t symbol[HUFFMAN_SYMBOLS];
};

void huffman_prepare(struct huffman_decoder *decoder, const struct huffman *code);

/* The next symbol, or -1 if there is none. */
int huffman_get(const struct huffman_decoder *decoder, struct bit_reader *from);

#endif
