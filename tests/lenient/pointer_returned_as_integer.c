// gcc compiles this with a warning.
#include "racy.h"
static int first(char *p) { return p; }
int main(void) {
    race();
    first("x");
    return 0;
}
