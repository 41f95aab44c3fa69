// Join loops: the handle is a field of each worker's structure.
#include <pthread.h>

struct worker {
    pthread_t thread;
    int load;
};

static struct worker workers[2];
static int peak;

static void *run(void *arg) {
    struct worker *w = arg;
    w->load = 3; // RACE!
    return NULL;
}

int main(void) {
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
#ifdef RACY
    peak = workers[1].load; // RACE!
#endif
    for (int i = 0; i < 2; i++) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].load > peak) // NORACE
            peak = workers[i].load; // NORACE
    }
    return peak; // NORACE
}
