// Read-copy-update without the copy: the writer changes the published version, readers see half of a change.
#include <pthread.h>
#include <stdatomic.h>

struct route {
    int gateway;
    int metric;
};

static struct route versions[2] = {{1, 10}, {0, 0}};
static _Atomic(struct route *) current = &versions[0];
static atomic_int mixed;

static void *reader(void *arg) {
    struct route *route = atomic_load_explicit(&current, memory_order_acquire);
    if (route->metric != 10 * route->gateway) // RACE!
        atomic_fetch_add(&mixed, 1);
    return arg;
}

static void update(int gateway) {
#ifdef RIGHT
    struct route *route = &versions[1];
#else
    struct route *route = atomic_load_explicit(&current, memory_order_acquire);
#endif
    route->gateway = gateway; // RACE!
    route->metric = 10 * gateway; // RACE!
    atomic_store_explicit(&current, route, memory_order_release);
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, reader, NULL);
    update(2);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return atomic_load(&mixed);
}
