// flags: -fopenmp
// Shows: OpenMP: `teams`
static int x;

int main(void) {
#pragma omp teams num_teams(2) // REFUSED `teams`
    x++;
    return x;
}
