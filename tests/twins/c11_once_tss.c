// call_once and thread-specific storage.
#include <stdlib.h>
#include <threads.h>

static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int shared;

static void setup(void) {
    shared = 1; // NORACE
}

static int worker(void *arg) {
    (void)arg;
    call_once(&flag, setup);
    int *mine = calloc(1, sizeof *mine);
    tss_set(key, mine);
    *(int *)tss_get(key) = shared; // RACE!
#ifdef RACY
    shared = 2; // RACE!
#endif
    return 0;
}

int main(void) {
    thrd_t one, two;
    call_once(&flag, setup);
    tss_create(&key, free);
    thrd_create(&one, worker, NULL);
#ifdef RACY
    shared = 3; // RACE!
#endif
    thrd_join(one, NULL);
    thrd_create(&two, worker, NULL);
    thrd_detach(two);
    thrd_yield();
    return 0;
}
