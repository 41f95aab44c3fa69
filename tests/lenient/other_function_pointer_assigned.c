// gcc compiles this with a warning.
#include "racy.h"
static int compare(int *a, int *b) { return *a - *b; }
int (*order)(const void *, const void *);
int main(void) {
    race();
    order = compare;
    return 0;
}
