// gcc compiles this with a warning.
#include "racy.h"
int main(int argc, char *argv) {
    race();
    return 0;
}
