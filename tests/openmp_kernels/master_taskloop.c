// A loop of tasks made by the first thread.
static int a[9];
int main(void) {
#pragma omp parallel master taskloop num_tasks(2) num_threads(2)
    for (int i = 0; i < 8; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        a[i] = i;
#endif
    return 0;
}
