// gcc compiles this with a warning.
#include "racy.h"
static often;
int main(void) {
    race();
    often = 1;
    return 0;
}
