// Inline assembly that updates memory in one instruction, beside a plain read of it.
static long counted, seen[16];
int main(void) {
#pragma omp simd
    for (int i = 0; i < 16; i++) {
        __asm__ volatile("lock; incq %0" : "+m"(counted)); // RACE!
#ifdef RACY
        seen[i] = counted; // RACE!
#else
        seen[i] = i;
#endif
    }
    return 0;
}
