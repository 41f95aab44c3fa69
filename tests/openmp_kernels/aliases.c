// Two names for parts of one array: they overlap in the racy twin.
enum { N = 6 };
static int memory[2 * N];

static void add(int *to, const int *from) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        to[i] = from[i] + 1; // RACE!
}

int main(void) {
#ifdef RACY
    add(memory + 1, memory);
#else
    add(memory + N, memory);
#endif
    return memory[0];
}
