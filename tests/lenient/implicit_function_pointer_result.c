// gcc compiles this with a warning.
#include "racy.h"
int main(void) {
    race();
    char *copy = strdup("x"); (void)copy;
    return 0;
}
