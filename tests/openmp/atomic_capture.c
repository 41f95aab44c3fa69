// Each thread gets a place of its own from a shared index, if that is read and advanced at once.
int main(void) {
    int next = 0, slots[4] = {0};
#pragma omp parallel
    {
        int mine;
#ifdef RACY
#pragma omp atomic read
        mine = next;
#pragma omp atomic write
        next = mine + 1;
#else
#pragma omp atomic capture
        mine = next++;
#endif
        slots[mine] = 1; // RACE!
    }
    return slots[0] == 9;
}
