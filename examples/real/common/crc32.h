/* The checksum of zip and PNG files (polynomial 0xEDB88320). */
#ifndef CRC32_H
#define CRC32_H

#include <stddef.h>
#include <stdint.h>

/* To be called once, before any thread is created. */
void crc32_prepare(void);

/* The checksum of what had the checksum `before` (0 for nothing), followed by these bytes. */
uint32_t crc32(uint32_t before, const unsigned char *bytes, size_t length);

#endif
