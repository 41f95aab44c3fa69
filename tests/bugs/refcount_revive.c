// Reference count that is taken by a load and a store: the object may have died in between (the bug that kref_get_unless_zero prevents).
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct session {
    atomic_int references;
    int bytes;
};

static struct session *shared;
static atomic_int dead;

static void put(struct session *session) {
    if (atomic_fetch_sub(&session->references, 1) == 1) {
        session->bytes = -1; // RACE!
        atomic_store(&dead, 1);
    }
}

static struct session *get(void) {
    int count = atomic_load(&shared->references);
#ifdef RIGHT
    while (count > 0)
        if (atomic_compare_exchange_weak(&shared->references, &count, count + 1))
            return shared;
    return NULL;
#else
    if (count == 0)
        return NULL;
    atomic_store(&shared->references, count + 1);
    return shared;
#endif
}

static void *reader(void *arg) {
    struct session *session = get();
    if (session != NULL) {
        int bytes = session->bytes; // RACE!
        if (bytes < 0)
            arg = NULL;
        put(session);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    shared = calloc(1, sizeof *shared);
    atomic_store(&shared->references, 1);
    pthread_create(&thread, NULL, reader, NULL);
    put(shared);
    pthread_join(thread, NULL);
    free(shared);
    return 0;
}
