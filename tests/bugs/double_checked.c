// Double-checked locking ("The double-checked locking is broken declaration", 2000): the first check is no synchronisation.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct settings {
    int level;
    int limit;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef RIGHT
static _Atomic(struct settings *) instance;
#define GET() atomic_load_explicit(&instance, memory_order_acquire)
#define SET(value) atomic_store_explicit(&instance, value, memory_order_release)
#else
static struct settings *instance;
#define GET() instance
#define SET(value) (instance = (value))
#endif

static struct settings *settings(void) {
    struct settings *found = GET(); // RACE!
    if (found == NULL) {
        pthread_mutex_lock(&lock);
        found = GET();
        if (found == NULL) {
            found = malloc(sizeof *found);
            found->level = 3; // RACE!
            found->limit = 100; // RACE!
            SET(found); // RACE!
        }
        pthread_mutex_unlock(&lock);
    }
    return found;
}

static void *reader(void *arg) {
    struct settings *current = settings();
    return current->level < current->limit ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, reader, &threads[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(settings());
    return 0;
}
