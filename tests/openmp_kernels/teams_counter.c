// A counter of all teams.
static int n;
int main(void) {
#pragma omp teams num_teams(2)
    {
#ifndef RACY
#pragma omp atomic
#endif
        n++; // RACE!
    }
    return 0;
}
