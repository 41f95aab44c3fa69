// $ raceproof check neighbours.c
// Two fields of one struct are two variables.
#include <pthread.h>

static struct {
    int left;
    int right;
} sums;

static void *sum_left(void *arg) {
    (void)arg;
    for (int i = 0; i < 3; i++)
        sums.left += i;
    return NULL;
}

static void *sum_right(void *arg) {
    (void)arg;
    for (int i = 0; i < 3; i++)
        sums.right += i;
    return NULL;
}

int main(void) {
    pthread_t left, right;
    pthread_create(&left, NULL, sum_left, NULL);
    pthread_create(&right, NULL, sum_right, NULL);
    pthread_join(left, NULL);
    pthread_join(right, NULL);
    return sums.left != sums.right;
}
