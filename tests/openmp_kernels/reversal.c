// An array is reversed by swapping: half of the iterations do it, all of them do it twice.
enum { N = 8 };
#ifdef RACY
enum { END = N };
#else
enum { END = N / 2 };
#endif
static int a[N];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < END; i++) {
        int t = a[i];        // RACE!
        a[i] = a[N - 1 - i]; // RACE!
        a[N - 1 - i] = t;    // RACE!
    }
    return a[0];
}
