// gcc compiles this with a warning.
#include "racy.h"
const limit = 3;
int main(void) {
    race();
    (void)limit;
    return 0;
}
