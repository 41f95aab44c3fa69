// gcc compiles this with a warning.
#include "racy.h"
static int compare(int *a, int *b) { return *a - *b; }
void qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *));
static int v[2] = {2, 1};
int main(void) {
    race();
    qsort(v, 2, sizeof *v, compare);
    return 0;
}
