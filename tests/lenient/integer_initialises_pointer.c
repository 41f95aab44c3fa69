// gcc compiles this with a warning.
#include "racy.h"
int *fixed = 4096;
int main(void) {
    race();
    (void)fixed;
    return 0;
}
