// Escapes: an address that goes through a pipe is passed on without a race, but what was written before is not known to
// who gets it: pipes do not synchronise.
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
    job->done = job->id; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends))
        return 1;
    pthread_create(&thread, NULL, work, NULL);
    struct job *job = malloc(sizeof *job);
#ifdef RACY
    job->id = 1; // RACE!
#else
    pthread_mutex_lock(&lock);
    job->id = 1; // NORACE
    pthread_mutex_unlock(&lock);
#endif
    struct job *message = job;
    if (write(ends[1], &message, sizeof message) != sizeof message) // NORACE
        return 1;
    pthread_join(thread, NULL);
    return job->done != 1; // NORACE
}
