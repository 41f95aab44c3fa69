// Locals that escape to a joined thread: the same local is given to one thread after the other.
#include <pthread.h>

struct step {
    int value;
};

static void *twice(void *arg) {
    struct step *s = arg;
    s->value *= 2; // RACE!
    return NULL;
}

int main(void) {
    struct step step = {1};
    pthread_t first, second;
    pthread_create(&first, NULL, twice, &step);
#ifndef RACY
    pthread_join(first, NULL);
#endif
    step.value++; // RACE!
    pthread_create(&second, NULL, twice, &step);
#ifdef RACY
    pthread_join(first, NULL);
#endif
    pthread_join(second, NULL);
    return step.value; // NORACE
}
