/* Repetitions: a row of bytes as literals and references to what came before.
 *
 * A sequence of tokens. The upper four bits of a token's first byte are a number of literals, the lower four the length
 * of a copy less LZ_SHORTEST; 15 is followed by bytes to be added, up to and with the first that is not 255. Then come the
 * literals, then two bytes with the distance of the copy. The last token has no copy. */
#ifndef LZ_H
#define LZ_H

#include <stddef.h>

#define LZ_SHORTEST 4
#define LZ_FARTHEST 65535

/* Enough room for any packed form of so many bytes. */
size_t lz_bound(size_t length);

/* The packed length; `to` has room for `lz_bound` bytes. */
size_t lz_pack(const unsigned char *from, size_t length, unsigned char *to);

/* The unpacked length, or (size_t)-1 if what is given is damaged or does not fit. */
size_t lz_unpack(const unsigned char *from, size_t length, unsigned char *to, size_t room);

#endif
