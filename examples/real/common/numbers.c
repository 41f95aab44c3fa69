#include "numbers.h"

#include <errno.h>
#include <stdlib.h>

#include "fatal.h"

long number_between(const char *text, const char *option, long least, long most) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    long unit = 1;
    if (end != text && (*end == 'k' || *end == 'K'))
        unit = 1024;
    else if (end != text && (*end == 'm' || *end == 'M'))
        unit = 1024L * 1024;
    if (unit != 1)
        end++;
    if (end == text || *end != '\0' || errno != 0 || number > most / unit)
        fatal("%s: `%s` is not a number up to %ld", option, text, most);
    number *= unit;
    if (number < least)
        fatal("%s: %ld is less than %ld", option, number, least);
    return number;
}
