// Data is published by an atomic flag, with release and acquire, or without.
static int data, flag, seen;
#ifdef RACY
#define SET relaxed
#define TEST relaxed
#else
#define SET release
#define TEST acquire
#endif

int main(void) {
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
            data = 42; // RACE!
#pragma omp atomic write SET
            flag = 1;
        }
#pragma omp section
        {
            int ready;
#pragma omp atomic read TEST
            ready = flag;
            if (ready)
                seen = data; // RACE!
        }
    }
    return seen == 9;
}
