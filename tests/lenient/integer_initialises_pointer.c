// gcc compiles this with a warning.
#include <pthread.h>
int *fixed = 4096;
static int shared;
static void *run(void *arg) { shared++; return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    shared++;
    pthread_join(thread, 0);
    (void)fixed;
    return 0;
}
