// A second creation overwrites a handle in a row before a loop joins the row.
#include <pthread.h>

static int x, y;

static void *first(void *arg) {
    (void)arg;
    x++; // RACE!
    return NULL;
}

static void *other(void *arg) {
    (void)arg;
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, first, NULL);
#ifdef RACY
    pthread_create(&threads[0], NULL, other, NULL);
#else
    pthread_create(&threads[2], NULL, other, NULL);
#endif
    pthread_create(&threads[1], NULL, other, NULL);
#ifdef RACY
    int count = 2;
#else
    int count = 3;
#endif
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    x++; // RACE!
    return y; // NORACE
}
