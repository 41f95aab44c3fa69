// Thread-specific slots: contexts in one heap array, one element for each thread.
#include <pthread.h>
#include <stdlib.h>

struct context {
    int id;
    long sum;
};

static void *run(void *arg) {
    struct context *c = arg;
    for (int i = 0; i < 2; i++)
        c->sum += c->id + i; // RACE!
    return NULL;
}

int main(void) {
    int n = 2;
    struct context *contexts = calloc((size_t)n, sizeof *contexts);
    pthread_t threads[2];
    long total = 0;
    for (int i = 0; i < n; i++) {
        contexts[i].id = i; // NORACE
        pthread_create(&threads[i], NULL, run, contexts + i);
    }
#ifdef RACY
    total = contexts[1].sum; // RACE!
#endif
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < n; i++)
        total += contexts[i].sum; // NORACE
    free(contexts);
    return (int)total;
}
