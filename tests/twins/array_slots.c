// Elements of an array are apart.
#include <pthread.h>

static int slot[4];

static void *worker(void *arg) {
    int index = (int)(long)arg;
#ifdef RACY
    index /= 2;
#endif
    slot[index]++; // RACE!
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, (void *)2L);
    pthread_create(&two, NULL, worker, (void *)3L);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return slot[0];
}
