// gcc compiles this with a warning.
#include "racy.h"
int main(int argc, int argv) {
    race();
    return 0;
}
