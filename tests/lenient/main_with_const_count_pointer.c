// gcc compiles this with a warning.
#include "racy.h"
int main(char **argv, int argc) {
    race();
    return 0;
}
