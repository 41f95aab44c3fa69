/* Mutual exclusion: critical sections, reductions, locks. */
#include <stdlib.h>

#include "openmp.h"

/* What clang reserves for a critical section: zeros at first, as large as what a mutex uses of itself. */
typedef int critical[8];

static pthread_mutex_t *mutex_of(critical *name) {
    return (pthread_mutex_t *)name;
}

void __kmpc_critical(ident *place, int number, critical *name) {
    pthread_mutex_lock(mutex_of(name));
}

void __kmpc_critical_with_hint(ident *place, int number, critical *name, uint32_t hint) {
    pthread_mutex_lock(mutex_of(name));
}

void __kmpc_end_critical(ident *place, int number, critical *name) {
    pthread_mutex_unlock(mutex_of(name));
}

void __kmpc_barrier(ident *place, int number);

/* Each thread combines its copy with the variable, one after the other. */
int __kmpc_reduce_nowait(ident *place, int number, int count, size_t size, void *data, void (*combine)(void *, void *),
                         critical *name) {
    pthread_mutex_lock(mutex_of(name));
    return 1;
}

void __kmpc_end_reduce_nowait(ident *place, int number, critical *name) {
    pthread_mutex_unlock(mutex_of(name));
}

int __kmpc_reduce(ident *place, int number, int count, size_t size, void *data, void (*combine)(void *, void *),
                  critical *name) {
    pthread_mutex_lock(mutex_of(name));
    return 1;
}

void __kmpc_end_reduce(ident *place, int number, critical *name) {
    pthread_mutex_unlock(mutex_of(name));
    __kmpc_barrier(place, number);
}

/* Atomic operations that the machine does not have. */
static pthread_mutex_t atomics = PTHREAD_MUTEX_INITIALIZER;

void __kmpc_atomic_start(void) {
    pthread_mutex_lock(&atomics);
}

void __kmpc_atomic_end(void) {
    pthread_mutex_unlock(&atomics);
}

/* `omp_lock_t` and `omp_nest_lock_t` have room for a pointer. */
typedef struct {
    void *_lk;
} lock;

struct nested {
    pthread_mutex_t mutex;
    /* Of the thread that holds it. */
    int depth;
};

void omp_init_lock(lock *lock) {
    pthread_mutex_t *mutex = malloc(sizeof *mutex);
    pthread_mutex_init(mutex, NULL);
    lock->_lk = mutex;
}

void omp_init_lock_with_hint(lock *lock, int hint) {
    omp_init_lock(lock);
}

void omp_destroy_lock(lock *lock) {
    pthread_mutex_destroy(lock->_lk);
    free(lock->_lk);
}

void omp_set_lock(lock *lock) {
    pthread_mutex_lock(lock->_lk);
}

void omp_unset_lock(lock *lock) {
    pthread_mutex_unlock(lock->_lk);
}

int omp_test_lock(lock *lock) {
    return pthread_mutex_trylock(lock->_lk) == 0;
}

void omp_init_nest_lock(lock *lock) {
    struct nested *nested = calloc(1, sizeof *nested);
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&nested->mutex, &recursive);
    pthread_mutexattr_destroy(&recursive);
    lock->_lk = nested;
}

void omp_init_nest_lock_with_hint(lock *lock, int hint) {
    omp_init_nest_lock(lock);
}

void omp_destroy_nest_lock(lock *lock) {
    struct nested *nested = lock->_lk;
    pthread_mutex_destroy(&nested->mutex);
    free(nested);
}

void omp_set_nest_lock(lock *lock) {
    struct nested *nested = lock->_lk;
    pthread_mutex_lock(&nested->mutex);
    nested->depth++;
}

void omp_unset_nest_lock(lock *lock) {
    struct nested *nested = lock->_lk;
    nested->depth--;
    pthread_mutex_unlock(&nested->mutex);
}

int omp_test_nest_lock(lock *lock) {
    struct nested *nested = lock->_lk;
    return pthread_mutex_trylock(&nested->mutex) == 0 ? ++nested->depth : 0;
}
