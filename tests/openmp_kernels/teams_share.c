// There is no barrier between teams: what they share needs atomic updates.
int main(void) {
    int count = 0;
#pragma omp teams num_teams(2) shared(count)
    {
#ifndef RACY
#pragma omp atomic
#endif
        count++; // RACE!
    }
    return count == 99;
}
