// A spin lock of one `xchg` in inline assembly is a lock.
// Shows: inline assembly (x86-64): `xchg` on a memory operand: the atomic operation it is
#include <pthread.h>

static int lock;
static int data;

static int exchange(int *place, int value) {
#ifdef __x86_64__
    __asm__ volatile("xchgl %0, %1" : "+r"(value), "+m"(*place) : : "memory");
    return value;
#else
    return __atomic_exchange_n(place, value, __ATOMIC_SEQ_CST);
#endif
}

static void *increment(void *arg) {
    while (exchange(&lock, 1))
        ;
    data++; // RACE!
    exchange(&lock, 0);
#ifdef RACY
    data++; // RACE!
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, increment, NULL);
    increment(NULL);
    pthread_join(thread, NULL);
    return 0;
}
