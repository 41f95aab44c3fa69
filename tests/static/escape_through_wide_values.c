// Escapes: addresses in a number of 128 bits, in a vector beside another address, and through inline assembly.
#include <pthread.h>
#include <stdint.h>

typedef uintptr_t two_words __attribute__((vector_size(16)));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned __int128 wide;
static union {
    two_words both;
    uintptr_t word[2];
} box;
static int in_vector, decoy, in_register;

static void *work(void *unused) {
    int *from_wide = (int *)(uintptr_t)(wide >> 64); // NORACE
    int *from_vector = (int *)box.word[0];           // NORACE
    int *from_register;
    __asm__("mov %1, %0" : "=r"(from_register) : "r"(&in_register));
    pthread_mutex_lock(&lock);
    *from_wide += 1;     // RACE!
    *from_vector += 1;   // RACE!
    *from_register += 1; // RACE!
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    int in_wide = 0;
    two_words both = {(uintptr_t)&in_vector, 0};
    wide = (unsigned __int128)(uintptr_t)&in_wide << 64; // NORACE
    box.word[0] = (uintptr_t)&decoy;                     // NORACE
    box.both = both;                                     // NORACE
    pthread_create(&thread, 0, work, 0);
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    in_wide += 2;     // RACE!
    in_vector += 2;   // RACE!
    in_register += 2; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, 0);
    return 0;
}
