// A target region with teams on the host.
static int a[21];

int main(void) {
#pragma omp target teams distribute parallel for map(tofrom : a) num_teams(2) thread_limit(2)
    for (int i = 0; i < 20; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        a[i] = i;
#endif
    return 0;
}
