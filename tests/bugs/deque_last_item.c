// Work-stealing deque (Frigo and others, PLDI 1998; Chase and Lev, SPAA 2005) whose owner takes the last item without competing for it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 8, ITEMS = 3, EMPTY = -1 };

struct deque {
    atomic_int top, bottom;
    atomic_int items[SIZE];
};

static struct deque jobs;
static atomic_int taken[ITEMS];

static void push(struct deque *deque, int item) {
    int bottom = atomic_load(&deque->bottom);
    atomic_store(&deque->items[bottom % SIZE], item);
    atomic_store(&deque->bottom, bottom + 1);
}

/* The owner's end. */
static int take(struct deque *deque) {
    int bottom = atomic_load(&deque->bottom) - 1;
    atomic_store(&deque->bottom, bottom);
    int top = atomic_load(&deque->top);
    if (top > bottom) {
        atomic_store(&deque->bottom, top);
        return EMPTY;
    }
    int item = atomic_load(&deque->items[bottom % SIZE]);
    if (top < bottom)
        return item;
#ifdef RIGHT
    if (!atomic_compare_exchange_strong(&deque->top, &top, top + 1))
        item = EMPTY;
    atomic_store(&deque->bottom, bottom + 1);
#else
    atomic_store(&deque->top, top + 1);
    atomic_store(&deque->bottom, bottom + 1);
#endif
    return item;
}

/* Everybody else's end. */
static int steal(struct deque *deque) {
    int top = atomic_load(&deque->top);
    if (top >= atomic_load(&deque->bottom))
        return EMPTY;
    int item = atomic_load(&deque->items[top % SIZE]);
    return atomic_compare_exchange_strong(&deque->top, &top, top + 1) ? item : EMPTY;
}

static void run(int item) {
    if (item == EMPTY)
        return;
    int before = atomic_fetch_add(&taken[item], 1);
    assert(before == 0); // ASSERT
}

static void *thief(void *arg) {
    run(steal(&jobs));
    run(steal(&jobs));
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, thief, NULL);
    for (int item = 0; item < ITEMS; item++)
        push(&jobs, item);
    for (int i = 0; i < ITEMS; i++)
        run(take(&jobs));
    pthread_join(thread, NULL);
    return 0;
}
