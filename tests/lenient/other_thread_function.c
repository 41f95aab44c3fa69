// gcc compiles this with a warning.
#include <pthread.h>
static int work(int *n) { return *n; }
static int n;
static int shared;
static void *run(void *arg) { shared++; return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    shared++;
    pthread_join(thread, 0);
    pthread_t other; pthread_create(&other, 0, work, &n); pthread_join(other, 0);
    return 0;
}
