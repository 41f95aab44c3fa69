// putc_unlocked uses a stream without its lock.
#include <pthread.h>
#include <stdio.h>

static FILE *file;

static void *worker(void *arg) {
#ifdef RACY
    putc_unlocked('x', file); // RACE!
#else
    putc('x', file);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    file = tmpfile();
    if (!file)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
    putc('y', file); // RACE!
    pthread_join(thread, NULL);
    fclose(file);
    return 0;
}
