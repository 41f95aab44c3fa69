// A downloader: THREADS - 1 threads fetch a part each into a buffer of their own, and note what has arrived under one lock.
#include <pthread.h>
#include <string.h>

#ifndef THREADS
#define THREADS 3
#endif
#define PARTS (THREADS - 1)
#define PIECES 2

static const char remote[] = "abcdefghijklmnopqrstuvwxyz";
static int arrived, finished, checksum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *fetch(void *arg) {
    int part = (int)(long)arg, all = sizeof remote;
    int start = all * part / PARTS, end = all * (part + 1) / PARTS;
    for (int piece = 0; piece < PIECES; piece++) {
        int from = start + (end - start) * piece / PIECES, to = start + (end - start) * (piece + 1) / PIECES;
        char buffer[sizeof remote];
        memcpy(buffer, remote + from, to - from);
        pthread_mutex_lock(&lock);
        arrived += to - from;
        checksum += buffer[0];
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    finished++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t threads[PARTS];
    for (long i = 0; i < PARTS; i++)
        pthread_create(&threads[i], 0, fetch, (void *)i);
    pthread_mutex_lock(&lock);
    int seen = arrived;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < PARTS; i++)
        pthread_join(threads[i], 0);
    return seen <= arrived && finished == PARTS && checksum ? 0 : 1;
}
