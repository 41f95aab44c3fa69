// One handle of each of two rows changes places: joining the first row leaves one of its threads running.
#include <pthread.h>

#define THREADS 2

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

static void *count(void *arg) {
    pthread_mutex_lock(&m);
    ++*(int *)arg; // RACE!
    pthread_mutex_unlock(&m);
    return NULL;
}

static void fill(pthread_t *row, int *counter) {
    for (int i = 0; i < THREADS; i++)
        pthread_create(&row[i], NULL, count, counter);
}

static void join_all(pthread_t *row) {
    for (int i = 0; i < THREADS; i++)
        pthread_join(row[i], NULL);
}

int main(void) {
    pthread_t left[THREADS], right[THREADS];
    fill(left, &x);
    fill(right, &y);
#ifdef RACY
    pthread_t other = left[0];
    left[0] = right[0];
    right[0] = other;
#endif
    join_all(left);
    x++; // RACE!
    join_all(right);
    return y; // NORACE
}
