// An atomic update of a number that the machine has no instruction for.
static double n;
int main(void) {
#pragma omp parallel num_threads(2)
    {
#ifndef RACY
#pragma omp atomic
#endif
        n += 0.5; // RACE!
    }
    return 0;
}
