// Three threads print; an assertion fails in some orders, and the search goes on.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int order[3], count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *arrive(void *arg) {
    fprintf(stderr, "arrives\n");
    pthread_mutex_lock(&mutex);
    order[count++] = arg != NULL;
    fprintf(stdout, "%d\n", count);
    fflush(stdout);
    int last = count == 3;
    pthread_mutex_unlock(&mutex);
    fprintf(stderr, "leaves\n");
    assert(!last || order[0] == 0); // ASSERT
    return arg;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, arrive, i == 2 ? threads : NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
