// Chunks that become smaller; the last element is everybody's in the racy twin.
enum { N = 6 };
static int a[N];

int main(void) {
#pragma omp parallel for schedule(guided, 2)
    for (int i = 0; i < N; i++)
#ifdef RACY
        a[i < 2 ? i : N - 1] = i; // RACE!
#else
        a[i] = i;
#endif
    return a[0];
}
