// Who executes which iteration is open; a counter shared by all of them has to be protected.
// Shows: OpenMP: parallel regions and loops
enum { N = 3 };

int main(void) {
    int done = 0;
    int a[N];
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < N; i++) {
        a[i] = i; // NORACE
#ifndef RACY
#pragma omp atomic
#endif
        done++; // RACE!
    }
    return done + a[0] == 9;
}
