// Escapes: the address of a local travels inside a heap object.
#include <pthread.h>
#include <stdlib.h>

struct task {
    int input;
    int *output;
};

static void *run(void *arg) {
    struct task *task = arg;
    *task->output = task->input * 2; // RACE!
    free(task);
    return NULL;
}

int main(void) {
    int doubled = 0, seen = 0;
    struct task *task = malloc(sizeof *task);
    pthread_t thread;
    task->input = 21; // NORACE
    task->output = &doubled; // NORACE
    pthread_create(&thread, NULL, run, task);
#ifdef RACY
    seen = doubled; // RACE!
#endif
    pthread_join(thread, NULL);
    return seen + doubled; // NORACE
}
