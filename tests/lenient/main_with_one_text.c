// gcc compiles this with a warning.
#include <pthread.h>
static int shared;
static void *run(void *arg) { shared++; return arg; }
int main(int argc, char *argv) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    shared++;
    pthread_join(thread, 0);
    return 0;
}
