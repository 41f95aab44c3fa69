// Two stages in sections: the second one needs the first one's result.
static int made, used;

int main(void) {
#ifdef RACY
#pragma omp parallel sections
    {
#pragma omp section
        made = 1; // RACE!
#pragma omp section
        used = made; // RACE!
    }
#else
#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            made = 1;
        }
#pragma omp sections
        {
#pragma omp section
            used = made;
        }
    }
#endif
    return used == 9;
}
