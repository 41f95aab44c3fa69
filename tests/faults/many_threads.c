// Ten thousand threads.
#include <pthread.h>

static int shared;
static pthread_t threads[10000];

static void *work(void *arg) {
    shared++;
    return arg;
}

int main(void) {
    for (int i = 0; i < 10000; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 10000; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
