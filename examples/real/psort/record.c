#include "record.h"

#include <stdlib.h>
#include <string.h>

/* Moves to the key: the order's field, or an empty text behind the line's end. */
static void find_field(const struct order *order, struct record *record) {
    const char *at = record->line, *end = record->line + record->length;
    record->text = at;
    record->text_length = record->length;
    for (unsigned field = 1; order->field != 0; field++) {
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        const char *start = at;
        while (at < end && *at != ' ' && *at != '\t')
            at++;
        if (field == order->field || at == end) {
            record->text = field == order->field ? start : end;
            record->text_length = (size_t)(at - record->text);
            return;
        }
    }
}

/* The key's text with a zero behind it, for the library's conversions. */
static void terminated(const struct record *record, char *to, size_t size) {
    size_t length = record->text_length < size ? record->text_length : size - 1;
    memcpy(to, record->text, length);
    to[length] = '\0';
}

void record_parse(const struct order *order, struct record *record) {
    char number[64];
    find_field(order, record);
    switch (order->kind) {
    case KEY_TEXT:
        break;
    case KEY_INTEGER:
        terminated(record, number, sizeof number);
        record->key.integer = strtoll(number, NULL, 10);
        break;
    case KEY_REAL:
        terminated(record, number, sizeof number);
        record->key.real = strtod(number, NULL);
        break;
    case KEY_LENGTH:
        record->key.integer = (int64_t)record->text_length;
        break;
    }
}

static unsigned char lower(char c) {
    unsigned char byte = (unsigned char)c;
    return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte + ('a' - 'A')) : byte;
}

static int compare_text(const struct record *a, const struct record *b, bool fold_case) {
    size_t shorter = a->text_length < b->text_length ? a->text_length : b->text_length;
    for (size_t i = 0; i < shorter; i++) {
        unsigned char x = (unsigned char)a->text[i], y = (unsigned char)b->text[i];
        if (fold_case) {
            x = lower(a->text[i]);
            y = lower(b->text[i]);
        }
        if (x != y)
            return x < y ? -1 : 1;
    }
    return (a->text_length > b->text_length) - (a->text_length < b->text_length);
}

int record_compare_keys(const struct order *order, const struct record *a, const struct record *b) {
    int outcome = 0;
    switch (order->kind) {
    case KEY_TEXT:
        outcome = compare_text(a, b, order->fold_case);
        break;
    case KEY_INTEGER:
    case KEY_LENGTH:
        outcome = (a->key.integer > b->key.integer) - (a->key.integer < b->key.integer);
        break;
    case KEY_REAL:
        outcome = (a->key.real > b->key.real) - (a->key.real < b->key.real);
        break;
    }
    return order->reverse ? -outcome : outcome;
}

int record_compare(const struct order *order, const struct record *a, const struct record *b) {
    int outcome = record_compare_keys(order, a, b);
    return outcome != 0 ? outcome : (a->line > b->line) - (a->line < b->line);
}

uint64_t record_hash(const struct record *record) {
    uint64_t hash = 0xCBF29CE484222325u; /* FNV-1a */
    for (size_t i = 0; i < record->length; i++)
        hash = (hash ^ (unsigned char)record->line[i]) * 0x100000001B3u;
    return hash ^ hash >> 29;
}
