#include "work.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static int unlocked, locked;

static void *race(void *arg) {
    unlocked++;
    return arg;
}

static void *count(void *arg) {
    pthread_mutex_lock(&lock);
    locked++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *fail(void *arg) {
    pthread_mutex_lock(&lock);
    locked++;
    assert(locked < 2);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *cross(void *arg) {
    pthread_mutex_t *first = arg ? &lock : &other, *second = arg ? &other : &lock;
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    return arg;
}

static void twice(void *(*run)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, &lock);
    run(NULL);
    pthread_join(thread, NULL);
}

void work(const char *what) {
    if (strncmp(what, "race", 4) == 0)
        twice(race);
    else if (strncmp(what, "fail", 4) == 0)
        twice(fail);
    else if (strncmp(what, "cross", 5) == 0)
        twice(cross);
    else
        twice(count);
}
