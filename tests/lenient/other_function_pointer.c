// gcc compiles this with a warning.
#include <pthread.h>
static void handler(int *p) { (void)p; }
void (*call)(char *) = handler;
static int shared;
static void *run(void *arg) { shared++; return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    shared++;
    pthread_join(thread, 0);
    (void)call;
    return 0;
}
