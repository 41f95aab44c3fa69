// pthread_exit from main leaves the other threads running; its result reaches the joiner.
#include <pthread.h>

static int data;
static pthread_t first;

static void *one(void *arg) {
    (void)arg;
    data = 1; // RACE!
    pthread_exit(&data);
}

static void *two(void *arg) {
    (void)arg;
#ifndef RACY
    void *result;
    pthread_join(first, &result);
    *(int *)result = 2;
#else
    data = 2; // RACE!
#endif
    return NULL;
}

int main(void) {
    pthread_t second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_exit(NULL);
}
