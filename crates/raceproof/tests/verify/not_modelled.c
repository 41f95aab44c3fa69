// What is not modelled is named with its place: nothing is proved.
#include <pthread.h>
#include <setjmp.h>

static int counter;
static jmp_buf back;

static void *increment(void *arg) {
    counter++;
    __asm__ volatile("mov (%%rsp), %%rax" ::: "rax", "memory");
    if (counter > 3)
        longjmp(back, 1);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, increment, 0);
    pthread_join(thread, 0);
    return counter;
}
