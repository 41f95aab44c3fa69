// Thread-specific slots: the slot's number is a field of the thread's argument.
#include <pthread.h>

struct worker {
    int id;
    pthread_t thread;
};

static struct worker workers[2];
static int counts[2];

static void *run(void *arg) {
    struct worker *w = arg;
    counts[w->id]++; // RACE!
    return NULL;
}

int main(void) {
    for (int i = 0; i < 2; i++) {
#ifdef RACY
        workers[i].id = 0; // NORACE
#else
        workers[i].id = i; // NORACE
#endif
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i].thread, NULL);
    return counts[0] + counts[1]; // NORACE
}
