/* A variable says what it does. */
#include "work.h"

#include <stdlib.h>

int main(void) {
    const char *mode = getenv("MODE");
    work(mode ? mode : "count");
    return 0;
}
