// --environment spurious: a weak compare-exchange that is tried once may fail although it is its turn.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int state;
static int data;

static void *claim(void *arg) {
    int none = 0;
#ifdef RIGHT
    while (!atomic_compare_exchange_weak(&state, &none, 1) && none == 0)
        ;
    if (none == 0)
        data++;
#else
    if (atomic_compare_exchange_weak(&state, &none, 1) || none == 0)
        data++; // RACE!
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, claim, NULL);
    claim(NULL);
    pthread_join(thread, NULL);
    return 0;
}
