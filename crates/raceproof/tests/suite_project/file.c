/* A file in its folder says what it does. */
#include "work.h"

#include <stdio.h>

int main(void) {
    char mode[32] = "count";
    FILE *in = fopen("mode.txt", "r");
    if (in) {
        if (!fgets(mode, sizeof mode, in))
            mode[0] = 0;
        fclose(in);
    }
    work(mode);
    return 0;
}
