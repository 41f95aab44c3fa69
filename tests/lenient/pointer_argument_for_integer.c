// gcc compiles this with a warning.
#include <pthread.h>
static void use(long n) { (void)n; }
static int shared;
static void *run(void *arg) { shared++; return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    shared++;
    pthread_join(thread, 0);
    use("x");
    return 0;
}
