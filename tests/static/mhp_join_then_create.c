// Create and join order: phases, each with threads of its own.
#include <pthread.h>

static int words[2], total;

static void *map(void *arg) {
    *(int *)arg += 1; // RACE!
    return NULL;
}

static void *reduce(void *arg) {
    total = words[0] + words[1]; // RACE!
    return arg;
}

int main(void) {
    pthread_t mappers[2], reducer;
    pthread_create(&mappers[0], NULL, map, &words[0]);
    pthread_create(&mappers[1], NULL, map, &words[1]);
    pthread_join(mappers[0], NULL);
#ifndef RACY
    pthread_join(mappers[1], NULL);
#endif
    pthread_create(&reducer, NULL, reduce, NULL);
#ifdef RACY
    pthread_join(mappers[1], NULL);
#endif
    pthread_join(reducer, NULL);
    return total; // NORACE
}
