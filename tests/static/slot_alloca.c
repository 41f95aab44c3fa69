// Thread-specific slots: the slots are in a variable-length array of main, each thread has the address of its own.
#include <alloca.h>
#include <pthread.h>

struct job {
    int input, output;
};

static void *worker(void *arg) {
    struct job *job = arg;
    job->output = job->input * 2; // RACE!
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    int workers = argc + 1;
    struct job *jobs = alloca(workers * sizeof *jobs);
    pthread_t *threads = alloca(workers * sizeof *threads);
    for (int i = 0; i < workers; i++)
        jobs[i].input = i; // NORACE
    for (int i = 0; i < workers; i++) {
#ifdef RACY
        pthread_create(&threads[i], NULL, worker, &jobs[i / 2]);
#else
        pthread_create(&threads[i], NULL, worker, &jobs[i]);
#endif
    }
    for (int i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    return jobs[0].output; // NORACE
}
