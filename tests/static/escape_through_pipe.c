// Escapes: a block is known to others since its address was written to a pipe that they read.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
    int id;
    int done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void *work(void *arg) {
    struct job *job;
    if (read(ends[0], &job, sizeof job) != sizeof job) // NORACE
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
    if (write(ends[1], &job, sizeof job) != sizeof job) // NORACE
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
