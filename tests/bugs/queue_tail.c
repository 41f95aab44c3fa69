// Michael and Scott's queue (PODC 1996) that links with a store where it needs a compare-and-swap: of two items one is lost.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { PRODUCERS = 2 };

struct node {
    _Atomic(struct node *) next;
    int value;
};

static struct node nodes[PRODUCERS + 1];
static _Atomic(struct node *) head = &nodes[0], tail = &nodes[0];

static void enqueue(struct node *node) {
    for (;;) {
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&last->next);
        if (next != NULL) {
            atomic_compare_exchange_strong(&tail, &last, next);
            continue;
        }
#ifdef RIGHT
        if (!atomic_compare_exchange_strong(&last->next, &next, node))
            continue;
#else
        atomic_store(&last->next, node);
#endif
        atomic_compare_exchange_strong(&tail, &last, node);
        return;
    }
}

static int dequeue(int *value) {
    struct node *first = atomic_load(&head);
    struct node *next = atomic_load(&first->next);
    if (next == NULL)
        return 0;
    *value = next->value;
    atomic_store(&head, next);
    return 1;
}

static void *producer(void *arg) {
    struct node *node = arg;
    node->value = 1;
    enqueue(node);
    return NULL;
}

int main(void) {
    pthread_t threads[PRODUCERS];
    int sum = 0, value;
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[i], NULL, producer, &nodes[i + 1]);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    while (dequeue(&value))
        sum += value;
    assert(sum == PRODUCERS); // ASSERT
    return 0;
}
