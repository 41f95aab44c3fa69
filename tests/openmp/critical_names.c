// Critical sections of different names do not exclude each other.
static int count;

static void first(void) {
#pragma omp critical(a)
    count++; // RACE!
}

static void second(void) {
#ifdef RACY
#pragma omp critical(b)
#else
#pragma omp critical(a)
#endif
    count++; // RACE!
}

int main(void) {
#pragma omp parallel sections
    {
#pragma omp section
        first();
#pragma omp section
        second();
    }
    return count == 9;
}
