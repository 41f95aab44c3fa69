// Recursion by tasks: every leaf adds to one sum.
static int sum;

static void walk(int depth) {
    if (depth == 0) {
#ifndef RACY
#pragma omp atomic
#endif
        sum++; // RACE!
        return;
    }
#pragma omp task
    walk(depth - 1);
    walk(depth - 1);
#pragma omp taskwait
}

int main(void) {
#pragma omp parallel
#pragma omp single
    walk(2);
    return sum == 9;
}
