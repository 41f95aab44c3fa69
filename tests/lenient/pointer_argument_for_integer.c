// gcc compiles this with a warning.
#include "racy.h"
static void use(long n) { (void)n; }
int main(void) {
    race();
    use("x");
    return 0;
}
