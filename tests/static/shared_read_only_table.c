// Shared-variable discovery: a table filled before the threads start is only read by them.
#include <pthread.h>

static int squares[4];
static int result[2];

static void *look_up(void *arg) {
    int *slot = arg;
    *slot = squares[2] + squares[3]; // RACE!
    return NULL;
}

int main(void) {
    pthread_t readers[2];
    for (int i = 0; i < 4; i++)
        squares[i] = i * i; // NORACE
    for (int i = 0; i < 2; i++)
        pthread_create(&readers[i], NULL, look_up, &result[i]);
#ifdef RACY
    squares[3] = 10; // RACE!
#endif
    for (int i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
    return result[0] + result[1]; // NORACE
}
