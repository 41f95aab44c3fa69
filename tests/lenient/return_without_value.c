// gcc compiles this with a warning.
#include "racy.h"
static int nothing(void) { return; }
int main(void) {
    race();
    nothing();
    return 0;
}
