// A flag that is set and looked at by `mov`, with `memory`, orders what is around it; without `memory` it does not.
#include <pthread.h>

static int flag, data;

#ifdef RACY
#define AROUND
#else
#define AROUND : "memory"
#endif

static void set(int *place) {
#ifdef __x86_64__
    __asm__ volatile("movl %1, %0" : "=m"(*place) : "r"(1) AROUND);
#else
    __atomic_store_n(place, 1, __ATOMIC_RELEASE);
#endif
}

static int get(int *place) {
    int value;
#ifdef __x86_64__
    __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*place) AROUND);
#else
    value = __atomic_load_n(place, __ATOMIC_ACQUIRE);
#endif
    return value;
}

static void *work(void *arg) {
    data = 1; // RACE!
    set(&flag);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    while (!get(&flag))
        ;
    data = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
