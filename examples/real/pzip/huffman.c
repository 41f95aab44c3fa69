#include "huffman.h"

#include <string.h>

/* Symbols by frequency, the rarest first; by number where they are as frequent. */
static unsigned sort_symbols(const uint32_t frequency[], uint16_t order[]) {
    unsigned count = 0;
    for (unsigned symbol = 0; symbol < HUFFMAN_SYMBOLS; symbol++) {
        if (frequency[symbol] == 0)
            continue;
        unsigned at = count++;
        for (; at > 0 && frequency[order[at - 1]] > frequency[symbol]; at--)
            order[at] = order[at - 1];
        order[at] = (uint16_t)symbol;
    }
    return count;
}

/* Depths of the leaves of a Huffman tree. Trees are joined in the order of their weight: leaves from the sorted list,
 * joined ones from the end of a queue, which is sorted by itself. */
static void depths(const uint32_t frequency[], const uint16_t order[], unsigned count, unsigned depth[]) {
    uint64_t weight[HUFFMAN_SYMBOLS];
    unsigned parent[2 * HUFFMAN_SYMBOLS]; /* leaves first, then joined trees */
    unsigned leaf = 0, tree = 0;
    for (unsigned joined = 0; joined + 1 < count; joined++) {
        uint64_t sum = 0;
        for (int half = 0; half < 2; half++) {
            bool take_leaf = leaf < count && (tree == joined || frequency[order[leaf]] <= weight[tree]);
            sum += take_leaf ? frequency[order[leaf]] : weight[tree];
            parent[take_leaf ? leaf++ : count + tree++] = count + joined;
        }
        weight[joined] = sum;
    }
    unsigned root = 2 * count - 2;
    for (unsigned i = 0; i < count; i++) {
        depth[i] = 0;
        for (unsigned at = i; at != root; at = parent[at])
            depth[i]++;
    }
}

/* Gives codes in the order of lengths, and of symbols within a length. */
static void assign(struct huffman *code) {
    uint16_t next = 0;
    for (unsigned length = 1; length <= HUFFMAN_LONGEST; length++) {
        for (unsigned symbol = 0; symbol < HUFFMAN_SYMBOLS; symbol++)
            if (code->length[symbol] == length)
                code->code[symbol] = next++;
        next = (uint16_t)(next << 1);
    }
}

void huffman_build(struct huffman *code, const uint32_t frequency[HUFFMAN_SYMBOLS]) {
    uint32_t scaled[HUFFMAN_SYMBOLS];
    uint16_t order[HUFFMAN_SYMBOLS];
    unsigned depth[HUFFMAN_SYMBOLS];
    memset(code, 0, sizeof *code);
    memcpy(scaled, frequency, sizeof scaled);
    for (;;) {
        unsigned count = sort_symbols(scaled, order), deepest = 0;
        depths(scaled, order, count, depth);
        for (unsigned i = 0; i < count; i++) {
            code->length[order[i]] = (unsigned char)(count == 1 ? 1 : depth[i]);
            deepest = depth[i] > deepest ? depth[i] : deepest;
        }
        if (deepest <= HUFFMAN_LONGEST)
            break;
        for (unsigned symbol = 0; symbol < HUFFMAN_SYMBOLS; symbol++)
            if (scaled[symbol] != 0)
                scaled[symbol] = scaled[symbol] / 2 + 1; /* flatter, until no code is too long */
    }
    assign(code);
}

/* Each length as the difference to the one before: 0 for none, 10 one more, 11 one less; steps are repeated. */
void huffman_write(const struct huffman *code, struct bit_writer *to) {
    unsigned current = 0;
    for (unsigned symbol = 0; symbol < HUFFMAN_SYMBOLS; symbol++) {
        for (; current != code->length[symbol]; current < code->length[symbol] ? current++ : current--)
            bits_put(to, current < code->length[symbol] ? 2 : 3, 2);
        bits_put(to, 0, 1);
    }
}

bool huffman_read(struct huffman *code, struct bit_reader *from) {
    memset(code, 0, sizeof *code);
    unsigned current = 0;
    uint32_t room = 0;
    for (unsigned symbol = 0; symbol < HUFFMAN_SYMBOLS; symbol++) {
        while (bits_get(from, 1) == 1) {
            bool less = bits_get(from, 1) == 1;
            if (less ? current == 0 : current == HUFFMAN_LONGEST)
                return false;
            current += less ? -1u : 1u;
        }
        code->length[symbol] = (unsigned char)current;
        if (current != 0)
            room += 1u << (HUFFMAN_LONGEST - current);
    }
    if (room > 1u << HUFFMAN_LONGEST || from->overrun)
        return false;
    assign(code);
    return true;
}

void huffman_put(const struct huffman *code, unsigned symbol, struct bit_writer *to) {
    bits_put(to, code->code[symbol], code->length[symbol]);
}

void huffman_prepare(struct huffman_decoder *decoder, const struct huffman *code) {
    memset(decoder, 0, sizeof *decoder);
    unsigned count = 0;
    for (unsigned length = 1; length <= HUFFMAN_LONGEST; length++)
        for (unsigned symbol = 0; symbol < HUFFMAN_SYMBOLS; symbol++)
            if (code->length[symbol] == length) {
                decoder->count[length]++;
                decoder->symbol[count++] = (uint16_t)symbol;
            }
}

int huffman_get(const struct huffman_decoder *decoder, struct bit_reader *from) {
    unsigned code = 0, first = 0, index = 0;
    for (unsigned length = 1; length <= HUFFMAN_LONGEST; length++) {
        code |= bits_get(from, 1);
        unsigned count = decoder->count[length];
        if (code < first + count)
            return decoder->symbol[index + (code - first)];
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return -1;
}
