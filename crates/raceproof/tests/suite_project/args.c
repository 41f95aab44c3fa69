/* Its argument says what it does. */
#include "work.h"

int main(int argc, char **argv) {
    work(argc > 1 ? argv[1] : "count");
    return 0;
}
