/* Blocks: what is packed and unpacked independently of each other. */
#ifndef BLOCK_H
#define BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a block is packed, as it stands in the file. */
enum method {
    METHOD_STORED = 1,
    METHOD_LZ = 2,
    METHOD_LZ_HUFFMAN = 3,
};

/* In the file a block is its header and `packed_length` bytes. A header with `raw_length` 0 ends the file. */
#define BLOCK_HEADER 13
struct block_header {
    enum method method;
    uint32_t raw_length;
    uint32_t packed_length;
    uint32_t checksum; /* of the raw bytes */
};

struct block {
    size_t sequence; /* its place in the file */
    struct block_header header;
    unsigned char *raw;
    unsigned char *packed;
    unsigned char *scratch;
    size_t size;     /* room for raw bytes */
    size_t capacity; /* room for packed bytes, and in `scratch` */
};

struct block *block_new(size_t size);
void block_free(struct block *block);

void block_encode_header(const struct block_header *header, unsigned char to[BLOCK_HEADER]);

/* False if it cannot be the header of a block of this size. */
bool block_decode_header(struct block_header *header, const unsigned char from[BLOCK_HEADER], size_t size);

/* Packs `raw` into `packed` and fills in the header, whose `raw_length` is known; `level` is 1 or 2. */
void block_pack(struct block *block, int level);

/* Unpacks `packed` into `raw`; false if it is damaged. */
bool block_unpack(struct block *block);

/* Whether what was packed unpacks to the same bytes. */
bool block_self_check(struct block *block);

#endif
