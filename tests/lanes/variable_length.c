// An array whose length is known when it is declared.
static int a[40], g[40];
int main(int argc, char **argv) {
    (void)argv;
#pragma omp simd
    for (int i = 0; i < 39; i++) {
        int v[argc + 2];
        v[0] = i;
        v[1] = i;
#ifdef RACY
        g[0] = v[1]; // RACE!
#endif
        a[i] = v[0];
    }
    return a[2];
}
