// One thread's value is copied to the private variables of all others.
static int seen, shared_value;

int main(void) {
#pragma omp parallel
    {
        int mine = 0;
#pragma omp single copyprivate(mine)
        mine = 5;
#ifdef RACY
        shared_value = mine; // RACE!
#else
#pragma omp atomic write
        shared_value = mine;
#endif
#pragma omp atomic
        seen += mine;
    }
    return seen + shared_value == 99;
}
