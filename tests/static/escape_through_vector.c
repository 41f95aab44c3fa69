// Escapes: the address of a block goes through a pipe as one part of several.
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

struct job {
    int id;
    int done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void *work(void *arg) {
    struct job *job;
    int kind;
    struct iovec parts[2] = {{&kind, sizeof kind}, {&job, sizeof job}};
    if (readv(ends[0], parts, 2) != sizeof kind + sizeof job) // NORACE
        return NULL;
    pthread_mutex_lock(&lock);
    job->done++; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends))
        return 1;
    pthread_create(&thread, NULL, work, NULL);
    struct job *job = calloc(1, sizeof *job);
    int kind = 1;
    struct iovec parts[2] = {{&kind, sizeof kind}, {&job, sizeof job}};
    if (writev(ends[1], parts, 2) != sizeof kind + sizeof job) // NORACE
        return 1;
#ifdef RACY
    job->done++; // RACE!
#else
    pthread_mutex_lock(&lock);
    job->done++; // NORACE
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
    return job->done != 2; // NORACE
}
