// All wait at the end of a single, unless it says nowait.
int main(void) {
    int ready = 0, seen = 0;
#pragma omp parallel reduction(+ : seen)
    {
#ifdef RACY
#pragma omp single nowait
#else
#pragma omp single
#endif
        ready = 1; // RACE!
        seen += ready; // RACE!
    }
    return seen == 9;
}
