// Locals that escape to a joined thread: the function returns only after the join.
#include <pthread.h>

struct sum {
    const int *numbers;
    int count;
    int total;
};

static void *add_up(void *arg) {
    struct sum *s = arg;
    for (int i = 0; i < s->count; i++) // NORACE
        s->total += s->numbers[i]; // RACE!
    return NULL;
}

static int parallel_sum(const int *numbers, int count) {
    struct sum half = {numbers, count / 2, 0};
    struct sum rest = {numbers + count / 2, count - count / 2, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, add_up, &half);
    add_up(&rest);
#ifdef RACY
    int total = half.total; // RACE!
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    int total = half.total; // NORACE
#endif
    return total + rest.total; // NORACE
}

int main(void) {
    static const int numbers[4] = {1, 2, 3, 4};
    return parallel_sum(numbers, 4);
}
