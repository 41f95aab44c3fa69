// Nobody waits at the end of a master.
int main(void) {
    int size = 0, seen = 0;
#pragma omp parallel reduction(+ : seen)
    {
#pragma omp master
        size = 4; // RACE!
#ifndef RACY
#pragma omp barrier
#endif
        seen += size; // RACE!
    }
    return seen == 9;
}
