// Four threads update four elements, each under the lock of its element and each thread in another order.
#include <assert.h>
#include <pthread.h>

#define COUNT 4

static pthread_mutex_t locks[COUNT];
static int elements[COUNT]; // NORACE

static void *update(void *first) {
    for (int i = 0; i < COUNT; i++) {
        int at = ((int)(long)first + i) % COUNT;
        pthread_mutex_lock(&locks[at]);
        elements[at] += at;
        pthread_mutex_unlock(&locks[at]);
    }
    return 0;
}

int main(void) {
    pthread_t threads[COUNT];
    for (int i = 0; i < COUNT; i++) pthread_mutex_init(&locks[i], 0);
    for (long i = 0; i < COUNT; i++) pthread_create(&threads[i], 0, update, (void *)i);
    for (int i = 0; i < COUNT; i++) pthread_join(threads[i], 0);
    for (int i = 0; i < COUNT; i++) assert(elements[i] == COUNT * i);
    return 0;
}
