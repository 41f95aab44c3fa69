// A join loop that goes up to a variable that was another number when the threads were made.
#include <pthread.h>

static pthread_t threads[3];
static int count = 3;
static int results[3];

static void *worker(void *arg) {
    *(int *)arg = 1; // RACE!
    return NULL;
}

int main(void) {
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, worker, &results[i]);
#ifdef RACY
    count = 1;
#endif
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return results[2]; // RACE!
}
