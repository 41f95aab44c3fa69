// A quicksort by two threads: each copies its half under the lock of the numbers, sorts the copy, puts it back, and
// adds its figures to the totals, each under a lock of its own. Four locks, no race.
#include <pthread.h>

#define HALF 6

static int numbers[2 * HALF] = {7, 3, 11, 1, 9, 5, 12, 2, 10, 4, 8, 6};
static int moves, largest, done;
static pthread_mutex_t numbers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t moves_lock = PTHREAD_MUTEX_INITIALIZER, largest_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;

// Sorts and returns how many elements were moved.
static int quicksort(int *a, int low, int high) {
    if (low >= high)
        return 0;
    int pivot = a[high], middle = low, moved = 0;
    for (int i = low; i < high; i++)
        if (a[i] < pivot) {
            int swap = a[i];
            a[i] = a[middle];
            a[middle++] = swap;
            moved++;
        }
    a[high] = a[middle];
    a[middle] = pivot;
    return moved + quicksort(a, low, middle - 1) + quicksort(a, middle + 1, high);
}

static void *sort(void *arg) {
    int *half = arg, mine[HALF];
    pthread_mutex_lock(&numbers_lock);
    for (int i = 0; i < HALF; i++)
        mine[i] = half[i];
    pthread_mutex_unlock(&numbers_lock);
    int moved = quicksort(mine, 0, HALF - 1);
    pthread_mutex_lock(&numbers_lock);
    for (int i = 0; i < HALF; i++)
        half[i] = mine[i];
    pthread_mutex_unlock(&numbers_lock);
    pthread_mutex_lock(&moves_lock);
    moves += moved;
    pthread_mutex_unlock(&moves_lock);
    pthread_mutex_lock(&largest_lock);
    if (mine[HALF - 1] > largest)
        largest = mine[HALF - 1];
    pthread_mutex_unlock(&largest_lock);
    pthread_mutex_lock(&done_lock);
    done++;
    pthread_mutex_unlock(&done_lock);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, sort, numbers);
    pthread_create(&two, 0, sort, numbers + HALF);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return done == 2 && largest == 12 ? 0 : 1;
}
