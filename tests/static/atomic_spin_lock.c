// Atomics: a spin lock made of an atomic flag, as programs write it themselves.
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag taken = ATOMIC_FLAG_INIT;
static int value;

static int try_lock(void) {
    return !atomic_flag_test_and_set(&taken); // NORACE
}

static void unlock(void) {
    atomic_flag_clear(&taken); // NORACE
}

static void *worker(void *arg) {
    if (try_lock()) {
        value++; // RACE!
        unlock();
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    value++; // RACE!
#else
    if (try_lock()) {
        value++; // NORACE
        unlock();
    }
#endif
    pthread_join(thread, NULL);
    return value; // NORACE
}
