#include "count.h"

static int factor = FACTOR;

int scaled(int value) {
    return value * factor;
}
