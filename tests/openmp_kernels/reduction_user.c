// A reduction that the program declares.
struct range { int low, high; };
#pragma omp declare reduction(join : struct range : omp_out.low = omp_in.low < omp_out.low ? omp_in.low : omp_out.low) initializer(omp_priv = {0, 0})
static struct range r;
int main(void) {
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for reduction(join : r)
#endif
    for (int i = 0; i < 20; i++)
        r.low = r.low < -i ? r.low : -i; // RACE!
    return 0;
}
