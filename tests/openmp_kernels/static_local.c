// A static variable of a function that is called in the region.
enum { N = 4 };

static int square(int x) {
#ifdef RACY
    static int result;
#else
    int result;
#endif
    result = x * x; // RACE!
    return result;  // RACE!
}

int main(void) {
    int a[N];
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        a[i] = square(i);
    return a[0];
}
