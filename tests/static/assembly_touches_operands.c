// Inline assembly with an operand in memory touches that operand: other variables keep their proofs.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *add(void *arg) {
    int mine = 1;
#ifdef __x86_64__
    __asm__ volatile("addl $1, %0" : "+m"(mine) : : "memory");
#endif
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    total += mine; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    add(NULL);
    pthread_join(thread, NULL);
    return total == 0; // NORACE
}
