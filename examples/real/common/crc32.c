#include "crc32.h"

static uint32_t table[256];

void crc32_prepare(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t remainder = byte;
        for (int bit = 0; bit < 8; bit++)
            remainder = remainder & 1 ? remainder >> 1 ^ 0xEDB88320u : remainder >> 1;
        table[byte] = remainder;
    }
}

uint32_t crc32(uint32_t before, const unsigned char *bytes, size_t length) {
    uint32_t state = ~before;
    for (size_t i = 0; i < length; i++)
        state = state >> 8 ^ table[(state ^ bytes[i]) & 0xFF];
    return ~state;
}
