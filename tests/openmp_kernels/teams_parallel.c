// Iterations for teams and their threads.
static int a[21];

int main(void) {
#pragma omp teams distribute parallel for num_teams(2) num_threads(2)
    for (int i = 0; i < 20; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        a[i] = i;
#endif
    return 0;
}
