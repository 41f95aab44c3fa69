/* Its standard input says what it does. */
#include "work.h"

#include <stdio.h>

int main(void) {
    char mode[32] = "count";
    if (!fgets(mode, sizeof mode, stdin))
        mode[0] = 0;
    work(mode);
    return 0;
}
