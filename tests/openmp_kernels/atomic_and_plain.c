// Updates are atomic, but one reader is not.
static int x, seen;

int main(void) {
#pragma omp parallel sections
    {
#pragma omp section
        {
#pragma omp atomic
            x += 2; // RACE!
        }
#pragma omp section
        {
#ifndef RACY
#pragma omp atomic read
#endif
            seen = x; // RACE!
        }
    }
    return seen == 9;
}
