// One thread chooses, all get a copy.
int main(void) {
    int shared = 0, sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        int value = 0;
#pragma omp single copyprivate(value)
        {
            value = 7;
            shared = 7; // NORACE
        }
#ifdef RACY
        shared = value + 1; // RACE!
#endif
        sum += value;
    }
    return sum != 14 || shared == 9;
}
