// Sections with variables of their own.
static int x, y;
int main(void) {
#pragma omp parallel sections
    {
#pragma omp section
        x++; // RACE!
#pragma omp section
#ifdef RACY
        x++; // RACE!
#else
        y++;
#endif
    }
    return 0;
}
