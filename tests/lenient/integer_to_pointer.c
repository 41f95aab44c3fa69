// gcc compiles this with a warning.
#include "racy.h"
char *place;
int main(void) {
    race();
    place = 16;
    return 0;
}
