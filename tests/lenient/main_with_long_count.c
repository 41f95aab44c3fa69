// gcc compiles this with a warning.
#include "racy.h"
int main(long argc, char **argv) {
    race();
    return 0;
}
