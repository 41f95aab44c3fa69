// The first thread's instance of a variable is copied to all others; a pointer in it is shared then.
enum { N = 4 };
static int cells[N];
static struct {
    int *at;
    int count;
} state;
#pragma omp threadprivate(state)

int main(void) {
    state.at = cells;
#pragma omp parallel for copyin(state)
    for (int i = 0; i < N; i++) {
        state.count++;
#ifdef RACY
        *state.at = i; // RACE!
#else
        state.at[i] = i;
#endif
    }
    return cells[0] == 9;
}
