// A lock that is taken by `xchg` and given back by a plain `mov`, in inline assembly.
// Shows: inline assembly (x86-64): a single load or store (`mov`): the atomic access that it is to the machine
#include <pthread.h>

static int lock;
static int data;

static int take(int *place) {
    int value = 1;
#ifdef __x86_64__
    __asm__ volatile("xchgl %0, %1" : "+r"(value), "+m"(*place) : : "memory");
    return value;
#else
    return __atomic_exchange_n(place, value, __ATOMIC_SEQ_CST);
#endif
}

static void give(int *place) {
#ifdef __x86_64__
    __asm__ volatile("movl $0, %0" : "+m"(*place) : : "memory");
#else
    __atomic_store_n(place, 0, __ATOMIC_RELEASE);
#endif
}

static void *increment(void *arg) {
    while (take(&lock))
        ;
    data++; // RACE!
    give(&lock);
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
