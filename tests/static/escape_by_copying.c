// Escapes: a block is known to others through copies of its address, made by functions of the library.
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wchar.h>

struct job {
    int done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job **copies[5];

static int differ(const void *one, const void *other) {
    return *(struct job *const *)one != *(struct job *const *)other;
}

static void *work(void *arg) {
    for (int i = 0; i < 5; i++) {
        struct job *job = *copies[i]; // NORACE
        pthread_mutex_lock(&lock);
        job->done++; // RACE!
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    struct job *jobs[5];
    for (int i = 0; i < 5; i++) {
        jobs[i] = calloc(1, sizeof **jobs);
        copies[i] = calloc(1, sizeof **copies); // NORACE
    }
    char swapped[sizeof jobs[0]];
    size_t members = 0;
    memccpy(copies[0], &jobs[0], 257, sizeof jobs[0]);                         // NORACE
    wmemcpy((wchar_t *)copies[1], (wchar_t *)&jobs[1], sizeof jobs[1] / 4);    // NORACE
    swab(&jobs[2], swapped, sizeof swapped);                                   // NORACE
    swab(swapped, copies[2], sizeof swapped);                                  // NORACE
    lsearch(&jobs[3], copies[3], &members, sizeof jobs[3], differ);            // NORACE
    memcpy(copies[4], &jobs[4], sizeof jobs[4]);                               // NORACE
    pthread_create(&thread, NULL, work, NULL);
    for (int i = 0; i < 5; i++) {
#ifdef RACY
        jobs[i]->done++; // RACE!
#else
        pthread_mutex_lock(&lock);
        jobs[i]->done++; // NORACE
        pthread_mutex_unlock(&lock);
#endif
    }
    pthread_join(thread, NULL);
    return jobs[0]->done + jobs[4]->done != 4; // NORACE
}
