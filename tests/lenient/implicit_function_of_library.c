// gcc compiles this with a warning.
#include "racy.h"
int main(void) {
    race();
    printf("%d\n", 1);
    return 0;
}
