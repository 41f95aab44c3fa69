// Instructions with the prefix `lock` are atomic, and publish what came before: who comes last owns the data.
// Shows: inline assembly (x86-64): single instructions with the prefix `lock` on a memory operand
#include <pthread.h>

static int left = 2;
static int data[2];

static int is_last(void) {
    int one = -1;
#ifdef __x86_64__
    __asm__ volatile("lock; xaddl %0, %1" : "+r"(one), "+m"(left) : : "memory");
#else
    one = __atomic_fetch_sub(&left, 1, __ATOMIC_SEQ_CST);
#endif
    return one == 1;
}

static void *work(void *arg) {
    data[arg != NULL] = 1; // RACE!
#ifdef RACY
    is_last();
    data[arg == NULL] = 2; // RACE!
#else
    if (is_last())
        data[arg == NULL] = 2;
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(&thread);
    pthread_join(thread, NULL);
    return 0;
}
