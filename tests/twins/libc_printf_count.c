// %n of printf writes an int.
#include <pthread.h>
#include <stdio.h>

static int count[2];

static void *worker(void *arg) {
    char text[8];
    snprintf(text, sizeof text, "ab%n", &count[0]); // RACE!
    return arg;
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
