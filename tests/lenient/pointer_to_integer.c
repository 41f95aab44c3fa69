// gcc compiles this with a warning.
#include "racy.h"
int number;
int main(void) {
    race();
    number = &number;
    return 0;
}
