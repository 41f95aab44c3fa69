// gcc compiles this with a warning.
#include "racy.h"
static void something(void) { return 1; }
int main(void) {
    race();
    something();
    return 0;
}
