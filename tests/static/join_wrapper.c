// Join by wrapper: thread and join go through functions of one's own.
#include <pthread.h>
#include <stdlib.h>

struct task {
    pthread_t thread;
    int result;
};

static void *run(void *arg) {
    struct task *t = arg;
    t->result = 5; // RACE!
    return NULL;
}

static struct task *task_start(void) {
    struct task *t = calloc(1, sizeof *t);
    pthread_create(&t->thread, NULL, run, t); // NORACE
    return t;
}

static void task_wait(struct task *t) {
    pthread_join(t->thread, NULL); // NORACE
}

int main(void) {
    struct task *t = task_start();
#ifdef RACY
    int result = t->result; // RACE!
    task_wait(t);
#else
    task_wait(t);
    int result = t->result; // NORACE
#endif
    free(t);
    return result;
}
