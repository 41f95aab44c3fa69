// String functions touch what lies up to the terminator and no more.
#include <pthread.h>
#include <string.h>

static char text[16] = "abc", copy[16];

static void *worker(void *arg) {
#ifdef RACY
    text[1] = 'x'; // RACE!
#else
    text[9] = 'x'; // NORACE
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    size_t n = strlen(text); // RACE!
    strcpy(copy, text); // RACE!
    int differs = strcmp(copy, text); // RACE!
    pthread_join(thread, NULL);
    return n == 99 && differs;
}
