// C11 condition variables.
#include <threads.h>

static mtx_t m;
static cnd_t c;
static int ready, data;

static int producer(void *arg) {
    (void)arg;
    data = 1; // RACE!
    mtx_lock(&m);
    ready = 1; // NORACE
    cnd_signal(&c);
    mtx_unlock(&m);
    return 0;
}

int main(void) {
    thrd_t thread;
    mtx_init(&m, mtx_plain | mtx_recursive);
    cnd_init(&c);
    thrd_create(&thread, producer, NULL);
#ifdef RACY
    data = 2; // RACE!
#endif
    mtx_lock(&m);
    while (!ready) // NORACE
        cnd_wait(&c, &m);
    mtx_unlock(&m);
    data = 3; // NORACE
    thrd_join(thread, NULL);
    cnd_destroy(&c);
    mtx_destroy(&m);
    return 0;
}
