// printf writes to the buffer that setvbuf gave to standard output.
#include <pthread.h>
#include <stdio.h>

static char room[128];

static void *worker(void *arg) {
    printf("text\n"); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    if (setvbuf(stdout, room, _IOFBF, sizeof room))
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
    printf("more\n");
#ifdef RACY
    char c = room[0]; // RACE!
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    char c = room[0];
#endif
    setvbuf(stdout, NULL, _IONBF, 0);
    return c == 'x';
}
