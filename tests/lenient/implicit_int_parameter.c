// gcc compiles this with a warning.
#include "racy.h"
int twice(n) { return 2 * n; }
int main(void) {
    race();
    twice(2);
    return 0;
}
