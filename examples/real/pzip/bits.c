#include "bits.h"

void bits_put(struct bit_writer *writer, uint32_t value, unsigned count) {
    while (count-- > 0) {
        writer->held = writer->held << 1 | (value >> count & 1);
        if (++writer->count == 8) {
            if (writer->length < writer->capacity)
                writer->bytes[writer->length] = (unsigned char)writer->held;
            writer->length++;
            writer->held = 0;
            writer->count = 0;
        }
    }
}

size_t bits_finish(struct bit_writer *writer) {
    while (writer->count != 0)
        bits_put(writer, 0, 1);
    return writer->length <= writer->capacity ? writer->length : 0;
}

uint32_t bits_get(struct bit_reader *reader, unsigned count) {
    uint32_t value = 0;
    while (count-- > 0) {
        if (reader->count == 0) {
            reader->overrun |= reader->next >= reader->length;
            reader->held = reader->overrun ? 0 : reader->bytes[reader->next++];
            reader->count = 8;
        }
        value = value << 1 | (reader->held >> --reader->count & 1);
    }
    return value;
}
