// A sum under a critical section.
static int sum;
int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 6; i++)
#ifndef RACY
#pragma omp critical
#endif
        sum += i; // RACE!
    return 0;
}
