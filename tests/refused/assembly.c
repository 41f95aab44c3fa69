// flags: -DANY
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
