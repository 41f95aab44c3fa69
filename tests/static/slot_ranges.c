// Thread-specific slots: each thread has a range of the array; in the racy twin the ranges overlap.
#include <pthread.h>

struct range {
    int from, to;
};

static int pixels[4];

static void *paint(void *arg) {
    struct range *r = arg;
    for (int i = r->from; i < r->to; i++) // NORACE
        pixels[i] = 1; // RACE!
    return NULL;
}

int main(void) {
#ifdef RACY
    struct range ranges[2] = {{0, 3}, {2, 4}};
#else
    struct range ranges[2] = {{0, 2}, {2, 4}};
#endif
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, paint, &ranges[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return pixels[0] + pixels[3]; // NORACE
}
