// One thread alone cannot race.
int main(void) {
    int count = 0, threads = 1;
#ifdef RACY
    threads = 2;
#endif
#pragma omp parallel if (threads > 1)
    count++; // RACE!
    return count == 9;
}
