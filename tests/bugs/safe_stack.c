// SafeStack (Vyukov's lock-free stack of indices, known from SCTBench): three threads, and a head that is the same again (ABA) after many switches.
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 3, NONE = -1 };

#ifdef RIGHT
/* The index, and above it how often the head has changed. */
#define INDEX(head) ((int)(short)(head))
#define NEXT(head, index) ((((head) >> 16) + 1) << 16 | ((index) & 0xffff))
#else
#define INDEX(head) ((int)(head))
#define NEXT(head, index) ((long)(index))
#endif

struct cell {
    int owner;
    atomic_int next;
};

static struct cell cells[THREADS];
static atomic_long head;
static atomic_int count = THREADS;

static int pop(void) {
    while (atomic_load(&count) > 1) {
        long first = atomic_load(&head);
        int index = INDEX(first);
#ifdef RIGHT
        int next = atomic_load(&cells[index].next);
        if (next != NONE && atomic_compare_exchange_strong(&head, &first, NEXT(first, next))) {
            atomic_fetch_sub(&count, 1);
            return index;
        }
#else
        int next = atomic_exchange(&cells[index].next, NONE);
        if (next != NONE) {
            if (atomic_compare_exchange_strong(&head, &first, NEXT(first, next))) {
                atomic_fetch_sub(&count, 1);
                return index;
            }
            atomic_exchange(&cells[index].next, next);
        }
#endif
    }
    return NONE;
}

static void push(int index) {
    long first = atomic_load(&head);
    do
        atomic_store(&cells[index].next, INDEX(first));
    while (!atomic_compare_exchange_strong(&head, &first, NEXT(first, index)));
    atomic_fetch_add(&count, 1);
}

static void *worker(void *arg) {
    int self = (int)(long)arg;
    for (int round = 0; round < ROUNDS; round++) {
        int index = pop();
        while (index == NONE)
            index = pop();
        cells[index].owner = self; // RACE!
        push(index);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        atomic_init(&cells[i].next, i + 1 < THREADS ? i + 1 : NONE);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
