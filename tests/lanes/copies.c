// Copies and library functions.
#include <string.h>

struct s {
    char b[24];
};
static struct s a[20], g;
static char names[20][16], name[16];
int main(void) {
#pragma omp simd
    for (int i = 0; i < 20; i++) {
#ifdef RACY
        memcpy(&g, &a[i], sizeof g); // RACE!
        strcpy(name, names[i]);      // RACE!
#else
        memcpy(&a[i], &g, sizeof g);
        strcpy(names[i], name);
#endif
    }
    return a[2].b[0];
}
