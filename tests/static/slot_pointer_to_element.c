// Thread-specific slots: each thread gets a pointer to its own element.
#include <pthread.h>

struct job {
    int input;
    int output;
};

static void *square(void *arg) {
    struct job *j = arg;
    j->output = j->input * j->input; // RACE!
    return NULL;
}

int main(void) {
    struct job jobs[2] = {{3, 0}, {4, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
#ifdef RACY
        pthread_create(&threads[i], NULL, square, &jobs[0]);
#else
        pthread_create(&threads[i], NULL, square, &jobs[i]);
#endif
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return jobs[0].output + jobs[1].output; // NORACE
}
