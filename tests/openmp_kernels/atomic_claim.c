// Slots are claimed by an atomic counter; the claim has to be one step.
enum { N = 4 };
static int used, slots[N];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        int mine;
#ifdef RACY
#pragma omp atomic
        used++; // RACE!
        mine = used - 1; // RACE!
        slots[mine] = i; // RACE!
#else
#pragma omp atomic capture
        mine = used++;
        slots[mine] = i;
#endif
    }
    return slots[0] == 9;
}
