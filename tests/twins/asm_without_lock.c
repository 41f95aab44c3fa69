// An update in inline assembly without the prefix `lock` is a plain read and a plain write.
// Shows: inline assembly (x86-64): updates without the prefix `lock`: plain accesses
#include <pthread.h>

static int counters[2];

#ifdef __x86_64__
#define INCREMENT(place) __asm__("incl %0" : "+m"(place))
#else
#define INCREMENT(place) ++(place)
#endif

static void increment(int *place) {
    INCREMENT(*place); // RACE!
}

static void *work(void *arg) {
#ifdef RACY
    increment(&counters[0]);
#else
    increment(&counters[1]);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    increment(&counters[0]);
    pthread_join(thread, NULL);
    return 0;
}
