// The largest element, by comparison.
enum { N = 8 };
static int a[N] = {3, 1, 4, 1, 5, 9, 2, 6};

int main(void) {
    int most = 0;
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for reduction(max : most)
#endif
    for (int i = 0; i < N; i++)
        if (a[i] > most) // RACE!
            most = a[i]; // RACE!
    return most == 7;
}
