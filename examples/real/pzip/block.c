#include "block.h"

#include <stdlib.h>
#include <string.h>

#include "crc32.h"
#include "fatal.h"
#include "huffman.h"
#include "lz.h"

struct block *block_new(size_t size) {
    struct block *block = allocate(1, sizeof *block);
    memset(block, 0, sizeof *block);
    block->size = size;
    block->capacity = lz_bound(size);
    block->raw = allocate(size, 1);
    block->packed = allocate(block->capacity, 1);
    block->scratch = allocate(block->capacity, 1);
    return block;
}

void block_free(struct block *block) {
    free(block->scratch);
    free(block->packed);
    free(block->raw);
    free(block);
}

static void put_number(unsigned char *to, uint32_t number) {
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(number >> 8 * i);
}

static uint32_t get_number(const unsigned char *from) {
    uint32_t number = 0;
    for (int i = 0; i < 4; i++)
        number |= (uint32_t)from[i] << 8 * i;
    return number;
}

void block_encode_header(const struct block_header *header, unsigned char to[BLOCK_HEADER]) {
    to[0] = (unsigned char)header->method;
    put_number(to + 1, header->raw_length);
    put_number(to + 5, header->packed_length);
    put_number(to + 9, header->checksum);
}

bool block_decode_header(struct block_header *header, const unsigned char from[BLOCK_HEADER], size_t size) {
    header->method = (enum method)from[0];
    header->raw_length = get_number(from + 1);
    header->packed_length = get_number(from + 5);
    header->checksum = get_number(from + 9);
    return header->method >= METHOD_STORED && header->method <= METHOD_LZ_HUFFMAN && header->raw_length <= size &&
           header->packed_length <= header->raw_length;
}

/* Packs bytes by a Huffman code: the number of bytes, the code, the bytes. 0 if that does not fit in `room`. */
static size_t entropy_pack(const unsigned char *from, size_t length, unsigned char *to, size_t room) {
    uint32_t frequency[HUFFMAN_SYMBOLS] = {0};
    struct huffman code;
    struct bit_writer bits = {.bytes = to, .capacity = room};
    for (size_t i = 0; i < length; i++)
        frequency[from[i]]++;
    huffman_build(&code, frequency);
    bits_put(&bits, (uint32_t)length, 32);
    huffman_write(&code, &bits);
    for (size_t i = 0; i < length; i++)
        huffman_put(&code, from[i], &bits);
    return bits_finish(&bits);
}

/* The number of bytes, or 0 if it is damaged or does not fit. */
static size_t entropy_unpack(const unsigned char *from, size_t length, unsigned char *to, size_t room) {
    struct huffman code;
    struct huffman_decoder decoder;
    struct bit_reader bits = {.bytes = from, .length = length};
    size_t count = bits_get(&bits, 32);
    if (count > room || !huffman_read(&code, &bits))
        return 0;
    huffman_prepare(&decoder, &code);
    for (size_t i = 0; i < count; i++) {
        int symbol = huffman_get(&decoder, &bits);
        if (symbol < 0 || bits.overrun)
            return 0;
        to[i] = (unsigned char)symbol;
    }
    return count;
}

void block_pack(struct block *block, int level) {
    struct block_header *header = &block->header;
    size_t raw = header->raw_length;
    size_t packed = lz_pack(block->raw, raw, block->packed);
    header->method = METHOD_LZ;
    if (level > 1) {
        size_t smaller = entropy_pack(block->packed, packed, block->scratch, packed - 1);
        if (smaller != 0) {
            memcpy(block->packed, block->scratch, smaller);
            packed = smaller;
            header->method = METHOD_LZ_HUFFMAN;
        }
    }
    if (packed >= raw) {
        memcpy(block->packed, block->raw, raw);
        packed = raw;
        header->method = METHOD_STORED;
    }
    header->packed_length = (uint32_t)packed;
    header->checksum = crc32(0, block->raw, raw);
}

/* Unpacks to anywhere. */
static bool unpack(struct block *block, unsigned char *to) {
    const struct block_header *header = &block->header;
    const unsigned char *from = block->packed;
    size_t length = header->packed_length;
    if (header->method == METHOD_STORED) {
        if (length != header->raw_length)
            return false;
        memcpy(to, from, length);
    } else {
        if (header->method == METHOD_LZ_HUFFMAN) {
            length = entropy_unpack(from, length, block->scratch, block->capacity);
            from = block->scratch;
        }
        if (lz_unpack(from, length, to, header->raw_length) != header->raw_length)
            return false;
    }
    return crc32(0, to, header->raw_length) == header->checksum;
}

bool block_unpack(struct block *block) {
    return unpack(block, block->raw);
}

bool block_self_check(struct block *block) {
    unsigned char *copy = allocate(block->header.raw_length, 1);
    bool same = unpack(block, copy) && memcmp(copy, block->raw, block->header.raw_length) == 0;
    free(copy);
    return same;
}
