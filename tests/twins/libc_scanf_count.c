// %n of scanf writes an int although it converts nothing.
#include <pthread.h>
#include <stdio.h>

static int count[2];

static void *worker(void *arg) {
    int number;
    return sscanf("12 x", "%d%n", &number, &count[0]) == 1 ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    int seen = count[0]; // RACE!
#else
    int seen = count[1];
#endif
    pthread_join(thread, NULL);
    return seen > 2;
}
