// A quicksort by two threads that take ranges from a common stack. The elements of a range belong to whoever took it; the
// length of the longest range, a statistic, belongs to nobody.
#include <pthread.h>
#include <unistd.h>

#define N 4
#define RANGES 8

static int numbers[N] = {3, 1, 4, 2};
static struct {
    int low, high;
} ranges[RANGES];
static int top, placed;
static int longest;
static pthread_mutex_t stack = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void put(int low, int high) {
    if (low > high)
        return;
    pthread_mutex_lock(&stack);
    ranges[top].low = low;
    ranges[top].high = high;
    top++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&stack);
}

// Takes a range; its pivot will be in its place. Returns 0 when all are.
static int take(int *low, int *high) {
    pthread_mutex_lock(&stack);
    while (top == 0 && placed < N)
        pthread_cond_wait(&changed, &stack);
    int is_there = placed < N;
    if (is_there) {
        top--;
        *low = ranges[top].low;
        *high = ranges[top].high;
        placed++;
        if (placed == N)
            pthread_cond_broadcast(&changed);
#ifdef FIXED
        if (*high - *low > longest)
            longest = *high - *low;
#endif
    }
    pthread_mutex_unlock(&stack);
    return is_there;
}

static int split(int low, int high) {
    int pivot = numbers[high], middle = low;
    for (int i = low; i < high; i++)
        if (numbers[i] < pivot) {
            int swap = numbers[i];
            numbers[i] = numbers[middle];
            numbers[middle] = swap;
            middle++;
        }
    numbers[high] = numbers[middle];
    numbers[middle] = pivot;
    return middle;
}

static void *sort(void *pause) {
    int low, high;
    usleep((long)pause);
    while (take(&low, &high)) {
#ifndef FIXED
        if (high - low >= N - 2)
            longest = high - low;
#endif
        int middle = split(low, high);
        put(low, middle - 1);
        put(middle + 1, high);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    put(0, N - 1);
    pthread_create(&one, 0, sort, (void *)0L);
    pthread_create(&two, 0, sort, (void *)20000L);
    usleep(40000);
    pthread_mutex_lock(&stack);
    int done = placed == N;
#ifdef FIXED
    int seen = longest;
    pthread_mutex_unlock(&stack);
#else
    pthread_mutex_unlock(&stack);
    int seen = longest;
#endif
    pthread_join(one, 0);
    pthread_join(two, 0);
    return done && seen < N - 1;
}
