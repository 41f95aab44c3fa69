// Both threads take the lock for reading, and one writes. A writer in between orders them whenever it comes second.
#include <pthread.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int cache;
static int version;

static void *fill(void *unused) {
#ifdef FIXED
    pthread_rwlock_wrlock(&lock);
    cache = 1;
#else
    pthread_rwlock_rdlock(&lock);
    cache = 1;
#endif
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    version = 1;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *look(void *unused) {
    usleep(20000);
    pthread_rwlock_rdlock(&lock);
    int found = cache;
    pthread_rwlock_unlock(&lock);
    return (void *)(long)found;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, fill, 0);
    pthread_create(&other, 0, look, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return version != 1;
}
