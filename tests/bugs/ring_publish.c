// Ring buffer of one producer and one consumer (Lamport, 1983) that publishes the index before the item is there.
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 2, ITEMS = 3 };

static int items[SIZE];
static atomic_uint head, tail;

static int put(int item) {
    unsigned position = atomic_load(&tail);
    if (position - atomic_load(&head) == SIZE)
        return 0;
#ifdef RIGHT
    items[position % SIZE] = item;
    atomic_store(&tail, position + 1);
#else
    atomic_store(&tail, position + 1);
    items[position % SIZE] = item; // RACE!
#endif
    return 1;
}

static int get(int *item) {
    unsigned position = atomic_load(&head);
    if (position == atomic_load(&tail))
        return 0;
    *item = items[position % SIZE]; // RACE!
    atomic_store(&head, position + 1);
    return 1;
}

static void *producer(void *arg) {
    for (int i = 1; i <= ITEMS; i++)
        while (!put(i))
            ;
    return arg;
}

int main(void) {
    pthread_t thread;
    int sum = 0, item = 0;
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 0; i < ITEMS; i++) {
        while (!get(&item))
            ;
        sum += item;
    }
    pthread_join(thread, NULL);
    return sum == 6 ? 0 : 1;
}
