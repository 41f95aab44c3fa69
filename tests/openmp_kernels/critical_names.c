// Critical sections exclude each other only under the same name.
static int x;

int main(void) {
#pragma omp parallel sections
    {
#pragma omp section
#pragma omp critical(one)
        x++; // RACE!
#pragma omp section
#ifdef RACY
#pragma omp critical(other)
#else
#pragma omp critical(one)
#endif
        x--; // RACE!
    }
    return x == 9;
}
