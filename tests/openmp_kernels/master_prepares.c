// There is no barrier at the end of a master region.
static int prepared, uses;

int main(void) {
#pragma omp parallel
    {
#pragma omp master
        prepared = 1; // RACE!
#ifndef RACY
#pragma omp barrier
#endif
        int mine = prepared; // RACE!
#pragma omp atomic
        uses += mine;
    }
    return uses == 99;
}
