// Must-alias: the lock comes back through an out parameter; summaries carry it to the caller.
#include <pthread.h>

static pthread_mutex_t user_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t group_lock = PTHREAD_MUTEX_INITIALIZER;
static int users, groups;

static void lock_of_users(pthread_mutex_t **out) {
    *out = &user_lock; // NORACE
}

static void lock_of_groups(pthread_mutex_t **out) {
    *out = &group_lock; // NORACE
}

static void *worker(void *arg) {
    pthread_mutex_t *lock;
    lock_of_users(&lock);
    pthread_mutex_lock(lock);
    users++; // RACE!
    pthread_mutex_unlock(lock);
    lock_of_groups(&lock);
    pthread_mutex_lock(lock);
    groups++; // NORACE
    pthread_mutex_unlock(lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_t *lock;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    lock_of_groups(&lock);
#else
    lock_of_users(&lock);
#endif
    pthread_mutex_lock(lock);
    users--; // RACE!
    pthread_mutex_unlock(lock);
    pthread_mutex_lock(&group_lock);
    groups--; // NORACE
    pthread_mutex_unlock(&group_lock);
    pthread_join(thread, NULL);
    return users + groups; // NORACE
}
