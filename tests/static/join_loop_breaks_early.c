// Join loops: a loop that may stop early has not joined everybody.
#include <pthread.h>

#define N 2
static int errors[N], worst;

static void *check(void *arg) {
    *(int *)arg = 1; // RACE!
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    int joined = 0;
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, check, &errors[i]);
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        joined++;
#ifdef RACY
        if (errors[i]) // NORACE
            break;
#endif
    }
    worst = errors[N - 1]; // RACE!
    for (; joined < N; joined++)
        pthread_join(threads[joined], NULL);
    return worst; // NORACE
}
