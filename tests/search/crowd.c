// Sixty-four threads count themselves under a lock.
#include <assert.h>
#include <pthread.h>

#define COUNT 64

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int arrived; // NORACE

static void *arrive(void *unused) {
    pthread_mutex_lock(&m);
    arrived++;
    pthread_mutex_unlock(&m);
    return unused;
}

int main(void) {
    pthread_t threads[COUNT];
    for (int i = 0; i < COUNT; i++) pthread_create(&threads[i], 0, arrive, 0);
    for (int i = 0; i < COUNT; i++) pthread_join(threads[i], 0);
    assert(arrived == COUNT);
    return 0;
}
