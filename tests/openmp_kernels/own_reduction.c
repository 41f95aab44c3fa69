// A reduction of a structure that the program defines.
enum { N = 4 };
struct range {
    int least, most;
};
static int a[N] = {4, 2, 7, 5};

static void join(struct range *into, const struct range *from) {
    if (from->least < into->least)
        into->least = from->least;
    if (from->most > into->most)
        into->most = from->most;
}
#pragma omp declare reduction(join : struct range : join(&omp_out, &omp_in)) initializer(omp_priv = {99, 0})

int main(void) {
    struct range range = {99, 0};
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for reduction(join : range)
#endif
    for (int i = 0; i < N; i++) {
        if (a[i] < range.least) // RACE!
            range.least = a[i]; // RACE!
        if (a[i] > range.most)  // RACE!
            range.most = a[i];  // RACE!
    }
    return range.least == 99;
}
