// Heap objects: what was taken out of the queue belongs to the one who took it.
#include <pthread.h>
#include <stdlib.h>

struct job {
    int input;
    int result;
    struct job *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *queue;
static int total;

static struct job *take(void) {
    pthread_mutex_lock(&lock);
    struct job *j = queue; // NORACE
#ifndef RACY
    if (j != NULL)
        queue = j->next; // NORACE
#endif
    pthread_mutex_unlock(&lock);
    return j;
}

static void work(void) {
    struct job *j = take();
    if (j != NULL) {
        j->result = j->input * 2; // RACE!
        pthread_mutex_lock(&lock);
        total += j->result; // RACE!
        pthread_mutex_unlock(&lock);
    }
}

static void *worker(void *arg) {
    work();
    return arg;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++) {
        struct job *j = malloc(sizeof *j);
        j->input = i; // NORACE
        j->next = queue; // NORACE
        queue = j; // NORACE
    }
    pthread_create(&thread, NULL, worker, NULL);
    work();
    pthread_join(thread, NULL);
    return total; // NORACE
}
