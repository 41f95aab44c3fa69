// strtol writes the end pointer.
#include <pthread.h>
#include <stdlib.h>

static char text[] = "12x";
static char *end;

static void *worker(void *arg) {
#ifdef RACY
    return end ? arg : NULL; // RACE!
#else
    return text[0] ? arg : NULL; // NORACE
#endif
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    long n = strtol(text, &end, 10); // RACE!
    pthread_join(thread, NULL);
    return n != 12;
}
