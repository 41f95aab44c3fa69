// gcc compiles this with a warning.
#include <pthread.h>
static int compare(int *a, int *b) { return *a - *b; }
int (*order)(const void *, const void *);
static int shared;
static void *run(void *arg) { shared++; return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    shared++;
    pthread_join(thread, 0);
    order = compare;
    return 0;
}
