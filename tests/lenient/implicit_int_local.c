// gcc compiles this with a warning.
#include "racy.h"
int main(void) {
    race();
    auto n = 3; register m = 4; (void)n; (void)m;
    return 0;
}
