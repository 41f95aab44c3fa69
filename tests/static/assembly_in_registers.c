// Inline assembly that computes with registers touches no memory: proofs about the rest stand.
// Shows: inline assembly (x86-64): what computes with registers: nothing
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned total;

static unsigned swapped(unsigned n) {
#ifdef __x86_64__
    __asm__("bswap %0" : "+r"(n));
#endif
    return n;
}

static void *add(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    total += swapped(1); // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&other, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return total == 0; // NORACE
}
