// Sequence lock (Lameter; Boehm, MSPC 2012) whose reader compares the numbers but accepts an odd one: a write was under way.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int low, high;

static void write_pair(int value) {
    atomic_fetch_add(&sequence, 1);
    atomic_store(&low, value);
    atomic_store(&high, value);
    atomic_fetch_add(&sequence, 1);
}

static void read_pair(int *first, int *second) {
    unsigned before;
    do {
        before = atomic_load(&sequence);
#ifdef RIGHT
        while (before % 2 == 1)
            before = atomic_load(&sequence);
#endif
        *first = atomic_load(&low);
        *second = atomic_load(&high);
    } while (atomic_load(&sequence) != before);
}

static void *writer(void *arg) {
    for (int value = 1; value <= 2; value++)
        write_pair(value);
    return arg;
}

int main(void) {
    pthread_t thread;
    int first, second;
    pthread_create(&thread, NULL, writer, NULL);
    read_pair(&first, &second);
    assert(first == second); // ASSERT
    pthread_join(thread, NULL);
    return 0;
}
