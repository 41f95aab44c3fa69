// A race, and a thread that prints for ever.
#include <pthread.h>
#include <stdio.h>
static int x;
static void *printer(void *arg) {
    static char line[1 << 16];
    x = 1; // RACE!
    for (;;)
        fwrite(line, 1, sizeof line, stdout);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, printer, 0);
    x = 2; // RACE!
    pthread_join(t, 0);
}
