// One thread prepares what all use: they have to wait for it.
static int prepared, uses;

int main(void) {
#pragma omp parallel
    {
#ifdef RACY
#pragma omp single nowait
#else
#pragma omp single
#endif
        prepared = 1; // RACE!
        int mine = prepared; // RACE!
#pragma omp atomic
        uses += mine;
    }
    return uses == 99;
}
