// A stream writes to the buffer that setvbuf gave it, until it is closed.
#include <pthread.h>
#include <stdio.h>

static char room[128];
static FILE *file;

static void *worker(void *arg) {
    fputs("text", file); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    file = tmpfile();
    if (!file || setvbuf(file, room, _IOFBF, sizeof room / 2))
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
    fputs("more", file);
#ifdef RACY
    char c = room[0]; // RACE!
#else
    char c = room[sizeof room / 2];
#endif
    pthread_join(thread, NULL);
    fclose(file);
    return c == 'x';
}
