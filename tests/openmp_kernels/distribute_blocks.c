// Blocks are distributed over teams; the threads of a team share a block.
enum { BLOCKS = 2, SIZE = 3 };
static int a[BLOCKS][SIZE], totals[BLOCKS];

int main(void) {
#pragma omp teams distribute num_teams(2)
    for (int b = 0; b < BLOCKS; b++) {
        int total = 0;
#ifdef RACY
#pragma omp parallel for num_threads(2)
#else
#pragma omp parallel for num_threads(2) reduction(+ : total)
#endif
        for (int i = 0; i < SIZE; i++) {
            a[b][i] = i;
            total += i; // RACE!
        }
        totals[b] = total;
    }
    return totals[0] == 99;
}
