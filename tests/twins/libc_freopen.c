// freopen opens the stream anew, under the stream's lock; fclose frees it.
#include <pthread.h>
#include <stdio.h>

static FILE *file;

static void *worker(void *arg) {
    fputc('x', file); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    file = fopen("twin-freopen.txt", "w");
    if (!file)
        return 1;
    FILE *again = freopen("twin-freopen.txt", "w", file);
    if (again != file)
        return 2;
    pthread_create(&thread, NULL, worker, NULL);
#ifndef RACY
    pthread_join(thread, NULL);
#endif
    fclose(again); // RACE!
#ifdef RACY
    pthread_join(thread, NULL);
#endif
    remove("twin-freopen.txt");
    return 0;
}
