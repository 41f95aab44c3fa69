// gcc compiles this with a warning.
#include "racy.h"
static void use(char *p) { (void)p; }
int main(void) {
    race();
    use(7);
    return 0;
}
