// gcc compiles this with a warning.
#include "racy.h"
static char *zero(long n) { return n; }
int main(void) {
    race();
    zero(0);
    return 0;
}
