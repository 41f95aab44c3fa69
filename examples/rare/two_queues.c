// Each thread empties its own queue and then notes the time of its last item in a shared slot, outside of any lock.
#include <pthread.h>
#include <unistd.h>

#define ITEMS 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;
static long last_item;

static void *consume(void *pause) {
    usleep((long)pause);
    for (long i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        done++;
#ifdef FIXED
        if (i == ITEMS / 2)
            last_item = i;
        pthread_mutex_unlock(&lock);
#else
        pthread_mutex_unlock(&lock);
        if (i == ITEMS / 2)
            last_item = i;
#endif
    }
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, consume, (void *)0L);
    pthread_create(&other, 0, consume, (void *)30000L);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return done != 2 * ITEMS;
}
