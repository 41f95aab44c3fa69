// Locals of a function that is called belong to the iteration; what it writes elsewhere does not.
static int a[50], g;
static int f(int i) {
    int tmp[4];
    for (int k = 0; k < 4; k++)
        tmp[k] = i + k;
#ifdef RACY
    g = tmp[2]; // RACE!
#endif
    return tmp[1];
}
int main(void) {
#pragma omp simd
    for (int i = 0; i < 50; i++)
        a[i] = f(i);
    return a[2];
}
