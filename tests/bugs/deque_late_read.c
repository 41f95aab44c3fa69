// Work-stealing deque (Chase and Lev, SPAA 2005) whose thief claims an item before it reads it, so the owner reuses the slot.
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 2, ITEMS = 4, EMPTY = -1 };

static atomic_int top, bottom;
static int items[SIZE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The owner pushes only where there is room. */
static int push(int item) {
    int last = atomic_load(&bottom);
    if (last - atomic_load(&top) == SIZE)
        return 0;
    items[last % SIZE] = item; // RACE!
    atomic_store(&bottom, last + 1);
    return 1;
}

static int steal(void) {
    int item = EMPTY;
    pthread_mutex_lock(&lock); /* Thieves do not compete with each other here. */
    int first = atomic_load(&top);
    if (first < atomic_load(&bottom)) {
#ifdef RIGHT
        item = items[first % SIZE];
        atomic_store(&top, first + 1);
#else
        atomic_store(&top, first + 1);
        item = items[first % SIZE]; // RACE!
#endif
    }
    pthread_mutex_unlock(&lock);
    return item;
}

static void *thief(void *arg) {
    long *sum = arg;
    for (int i = 0; i < 2; i++) {
        int item = steal();
        if (item != EMPTY)
            *sum += item;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    long sums[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, thief, &sums[i]);
    for (int item = 0; item < ITEMS; item++)
        push(item);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return sums[0] + sums[1] > 6;
}
