// sscanf writes through its pointers.
#include <pthread.h>
#include <stdio.h>

static int number;

static void *worker(void *arg) {
#ifdef RACY
    return number ? arg : NULL; // RACE!
#else
    return arg;
#endif
}

int main(void) {
    pthread_t thread;
    char word[8];
    pthread_create(&thread, NULL, worker, NULL);
    int n = sscanf("17 abc", "%d %7s", &number, word); // RACE!
    pthread_join(thread, NULL);
    return n != 2 || number != 17;
}
