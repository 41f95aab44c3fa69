// Shows: inline assembly (x86-64): other instructions that touch memory; static engines take them for the accesses they are where the operands say so, and for a call of a function without a body elsewhere. All of it is ordered in runs, so that it causes no false race
#include <pthread.h>

static int lock, data;

static void take(void) {
#ifdef __x86_64__
    int value = 1;
    __asm__ volatile("xchgl %0, %1\n\tmovl %0, %%ecx" : "+r"(value), "+m"(lock) : : "memory", "ecx"); // REFUSED inline assembly
#else
    __asm__ volatile("ldr x9, [sp]" : : : "memory", "x9"); // REFUSED inline assembly
#endif
}

static void *work(void *arg) {
    take();
    data++;
    take();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    work(NULL);
    return 0;
}
