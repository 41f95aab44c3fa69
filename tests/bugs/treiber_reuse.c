// Treiber's stack (IBM, 1986) over a free list of its own: the head is the same node again, but its successor is not (ABA).
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { NODES = 3, NONE = 0 };

/* A node's number, and in RIGHT also a count of changes. */
typedef _Atomic uint32_t link_t;

struct node {
    atomic_int next;
    atomic_int used;
};

static struct node nodes[NODES + 1];
static link_t head;

static uint32_t replaced(uint32_t old, int number) {
#ifdef RIGHT
    return ((old >> 8) + 1) << 8 | (uint32_t)number;
#else
    (void)old;
    return (uint32_t)number;
#endif
}

static int pop(void) {
    uint32_t first = atomic_load(&head);
    for (;;) {
        int number = first & 0xff;
        if (number == NONE)
            return NONE;
        int next = atomic_load(&nodes[number].next);
        if (atomic_compare_exchange_strong(&head, &first, replaced(first, next)))
            return number;
    }
}

static void push(int number) {
    uint32_t first = atomic_load(&head);
    do
        atomic_store(&nodes[number].next, first & 0xff);
    while (!atomic_compare_exchange_strong(&head, &first, replaced(first, number)));
}

static void use(int number) {
    if (number == NONE)
        return;
    int others = atomic_exchange(&nodes[number].used, 1);
    assert(others == 0); // ASSERT
}

static void *owner(void *arg) {
    int kept = pop(), other = pop();
    use(other);
    if (kept != NONE)
        push(kept);
    return arg;
}

int main(void) {
    pthread_t thread;
    for (int number = NODES; number > 0; number--)
        push(number);
    pthread_create(&thread, NULL, owner, NULL);
    use(pop());
    use(pop());
    pthread_join(thread, NULL);
    return 0;
}
