// gcc compiles this with a warning.
#include <pthread.h>
static int compare(int *a, int *b) { return *a - *b; }
void qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *));
static int v[2] = {2, 1};
static int shared;
static void *run(void *arg) { shared++; return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    shared++;
    pthread_join(thread, 0);
    qsort(v, 2, sizeof *v, compare);
    return 0;
}
