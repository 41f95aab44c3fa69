// An atomic update does not protect from a plain one.
int main(void) {
    int count = 0;
#pragma omp parallel
    {
#pragma omp atomic
        count++; // RACE!
#ifdef RACY
        count += 2; // RACE!
#else
#pragma omp atomic
        count += 2;
#endif
    }
    return count == 9;
}
