// A user gives back its reference before its last use of the object's lock: the other user destroys the lock meanwhile.
#include <pthread.h>
#include <stdlib.h>

struct connection {
    pthread_mutex_t lock;
    int references;
};

static void release(struct connection *connection) {
#ifdef RIGHT
    pthread_mutex_lock(&connection->lock);
    int left = --connection->references;
    pthread_mutex_unlock(&connection->lock);
#else
    int left = __atomic_sub_fetch(&connection->references, 1, __ATOMIC_ACQ_REL);
    pthread_mutex_lock(&connection->lock); // MISUSE RACE!
    pthread_mutex_unlock(&connection->lock); // MISUSE RACE!
#endif
    if (left > 0)
        return;
    pthread_mutex_destroy(&connection->lock); // MISUSE RACE!
    free(connection); // MISUSE RACE!
}

static void *user(void *arg) {
    release(arg);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct connection *connection = malloc(sizeof *connection);
    pthread_mutex_init(&connection->lock, NULL);
    connection->references = 2;
    pthread_create(&thread, NULL, user, connection);
    release(connection);
    pthread_join(thread, NULL);
    return 0;
}
