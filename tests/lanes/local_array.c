// An array in the frame of the function.
int main(void) {
    int a[64] = {0}, b[64] = {0};
#pragma omp simd
    for (int i = 0; i < 63; i++)
#ifdef RACY
        a[i + 1] = a[i]; // RACE!
#else
        a[i + 1] = b[i];
#endif
    return a[3];
}
