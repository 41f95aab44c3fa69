// Join loops: all threads of an array are joined by a loop over the same bounds.
#include <pthread.h>

#define N 2
static int parts[N], total;

static void *part(void *arg) {
    *(int *)arg += 2; // RACE!
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, part, &parts[i]);
#ifdef RACY
    for (int i = 0; i < N - 1; i++)
#else
    for (int i = 0; i < N; i++)
#endif
        pthread_join(threads[i], NULL);
    for (int i = 0; i < N; i++)
        total += parts[i]; // RACE!
#ifdef RACY
    pthread_join(threads[N - 1], NULL);
#endif
    return total; // NORACE
}
