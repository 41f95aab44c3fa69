// A struct that is copied as a whole.
struct s {
    int x, y;
};
static struct s a[40];
int main(void) {
    struct s t = {0, 0};
#pragma omp simd
    for (int i = 0; i < 40; i++) {
#ifdef RACY
        t = a[i];     // RACE!
        a[i].x = t.y; // RACE!
#else
        a[i] = t;
#endif
    }
    return t.x;
}
