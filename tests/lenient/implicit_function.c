// gcc compiles this with a warning.
#include "racy.h"
int main(void) {
    race();
    tick(1);
    return 0;
}
int tick(int n) { return n; }
