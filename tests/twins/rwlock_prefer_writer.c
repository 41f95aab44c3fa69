// A reader-writer lock that prefers writers, whose readers take it once each.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock;
static int data;

static void *read_it(void *arg) {
    int *seen = arg;
    pthread_rwlock_rdlock(&lock);
    *seen = data;
    pthread_rwlock_unlock(&lock);
#ifdef RACY
    *seen += data; // RACE!
#endif
    return NULL;
}

static void *write_it(void *arg) {
    pthread_rwlock_wrlock(&lock);
    data = 1; // RACE!
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock, &kind);
    pthread_t reader, writer;
    int first, second;
    pthread_create(&reader, NULL, read_it, &first);
    pthread_create(&writer, NULL, write_it, NULL);
    read_it(&second);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
