// A step of a breadth-first search: nodes of the frontier mark their neighbours.
enum { N = 4 };
static const int next[N] = {2, 2, 3, 3};
static int level[N];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 2; i++) {
#ifdef RACY
        if (level[next[i]] == 0)    // RACE!
            level[next[i]] = i + 1; // RACE!
#else
        int expected = 0;
        __atomic_compare_exchange_n(&level[next[i]], &expected, i + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
#endif
    }
    return level[2] == 9;
}
