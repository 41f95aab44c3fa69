// One byte of an int is read through a pointer while the int is incremented.
#include <pthread.h>

static int word, neighbour;

static void *worker(void *arg) {
    const char *byte = (const char *)arg;
    return byte[3] ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
#ifdef RACY
    pthread_create(&thread, NULL, worker, &word);
#else
    pthread_create(&thread, NULL, worker, &neighbour);
#endif
    word++; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
