// A filter over a row of values, with the edge in a shared variable.
enum { N = 10 };
static int in[N + 2], out[N];

int main(void) {
    int edge = 0;
    for (int i = 0; i < N + 2; i++)
        in[i] = i;
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        out[i] = in[i] + 2 * in[i + 1] + in[i + 2];
#ifdef RACY
        if (i == 0 || i == N - 1)
            edge = out[i]; // RACE!
#endif
    }
    return out[0] + edge == 999;
}
