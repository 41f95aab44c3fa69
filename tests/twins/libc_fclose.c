// fclose frees the stream: no thread may use it any more.
#include <pthread.h>
#include <stdio.h>

static FILE *file;

static void *worker(void *arg) {
    fputc('x', file); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    file = tmpfile();
    if (!file)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    fclose(file); // RACE!
    pthread_join(thread, NULL);
#else
    fputc('y', file);
    pthread_join(thread, NULL);
    fclose(file);
#endif
    return 0;
}
