// Iterations for teams.
// Shows: OpenMP: `teams` and `distribute`
static int a[21];

int main(void) {
#pragma omp teams distribute
    for (int i = 0; i < 20; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        a[i] = i;
#endif
    return 0;
}
