// A lock over `futex`, called as a system call.
// Shows: threads: futexes by `syscall`
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int held;
static int counter;

static void *work(void *arg) {
    while (atomic_exchange(&held, 1) != 0)
        syscall(SYS_futex, &held, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    counter++;
    atomic_store(&held, 0);
    syscall(SYS_futex, &held, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    return counter == 2 ? 0 : 1;
}
