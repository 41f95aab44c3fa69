// Both halves are sorted by tasks and merged when both are done.
enum { N = 4 };
static int a[N] = {3, 1, 2, 0}, b[N];

static void sort(int first, int end) {
    if (end - first < 2)
        return;
    int middle = (first + end) / 2;
#pragma omp task firstprivate(first, middle)
    sort(first, middle);
    sort(middle, end);
#ifndef RACY
#pragma omp taskwait
#endif
    for (int i = first, l = first, r = middle; i < end; i++)
        b[i] = l < middle && (r >= end || a[l] <= a[r]) ? a[l++] : a[r++]; // RACE!
    for (int i = first; i < end; i++)
        a[i] = b[i]; // RACE!
}

int main(void) {
#pragma omp parallel
#pragma omp single
    sort(0, N);
    return a[0];
}
