// Thread-specific slots: main reads the slot of a thread as soon as it has joined it, while others still run.
#include <pthread.h>

#define WORKERS 2

struct job {
    int id, result;
};

static struct job jobs[WORKERS];

static void *worker(void *arg) {
    struct job *job = arg;
    job->result = job->id + 1; // RACE!
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    int sum = 0;
    for (int i = 0; i < WORKERS; i++)
        jobs[i].id = i; // NORACE
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, &jobs[i]);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
#ifdef RACY
        sum += jobs[WORKERS - 1 - i].result; // RACE!
#else
        sum += jobs[i].result; // NORACE
#endif
    }
    return sum;
}
