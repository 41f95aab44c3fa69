// A region that is serial for small sizes; the size comes from the command line.
int main(int argc, char **argv) {
    int x = 0;
    (void)argv;
#ifdef RACY
#pragma omp parallel if (argc < 100)
#else
#pragma omp parallel if (argc > 100)
#endif
    x++; // RACE!
    return x == 9;
}
