// Inline assembly in a `simd` loop: each lane updates an element of its own.
static int sum, a[16];

int main(void) {
#pragma omp simd
    for (int i = 0; i < 16; i++) {
#if defined(__x86_64__) && defined(RACY)
        __asm__("addl %1, %0" : "+m"(sum) : "r"(i)); // RACE!
#elif defined(__x86_64__)
        __asm__("addl %1, %0" : "+m"(a[i]) : "r"(i));
#elif defined(RACY)
        sum += i; // RACE!
#else
        a[i] += i;
#endif
    }
    return sum + a[1] > 1000;
}
