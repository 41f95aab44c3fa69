// A test before the critical section reads what others write inside of it.
enum { N = 3 };
static int best = 9, a[N] = {7, 3, 5};

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
#ifdef RACY
        if (a[i] < best) // RACE!
#endif
#pragma omp critical
            if (a[i] < best)
                best = a[i]; // RACE!
    }
    return best == 9;
}
