// What the drivers with a lock specification of their own use of a small real-time system; see rtos.toml.
#ifndef RTOS_H
#define RTOS_H

#ifdef MODEL
#include <pthread.h>
struct os_mutex {
    pthread_mutex_t model;
};
struct os_rw {
    pthread_rwlock_t model;
};
#define OS_MUTEX {PTHREAD_MUTEX_INITIALIZER}
#define OS_RW {PTHREAD_RWLOCK_INITIALIZER}
static pthread_mutex_t os_scheduler = PTHREAD_MUTEX_INITIALIZER;
static inline void os_mutex_take(struct os_mutex *m) { pthread_mutex_lock(&m->model); }
static inline int os_mutex_poll(struct os_mutex *m) { return pthread_mutex_trylock(&m->model) == 0; }
static inline void os_mutex_give(struct os_mutex *m) { pthread_mutex_unlock(&m->model); }
static inline void os_rw_share(struct os_rw *l) { pthread_rwlock_rdlock(&l->model); }
static inline void os_rw_own(struct os_rw *l) { pthread_rwlock_wrlock(&l->model); }
static inline void os_rw_release(struct os_rw *l) { pthread_rwlock_unlock(&l->model); }
static inline void os_scheduler_stop(void) { pthread_mutex_lock(&os_scheduler); }
static inline void os_scheduler_go(void) { pthread_mutex_unlock(&os_scheduler); }
static inline void os_take_for(int task, struct os_mutex *m) {
    (void)task;
    pthread_mutex_lock(&m->model);
}
static inline void os_give_for(int task, struct os_mutex *m) {
    (void)task;
    pthread_mutex_unlock(&m->model);
}

// A program of threads: each call twice.
#define THREADS(A, B) \
    static void *model_a(void *p) { \
        A; \
        return p; \
    } \
    static void *model_b(void *p) { \
        B; \
        return p; \
    } \
    int main(void) { \
        pthread_t threads[4]; \
        for (int i = 0; i < 4; i++) \
            pthread_create(&threads[i], 0, i % 2 ? model_a : model_b, 0); \
        for (int i = 0; i < 4; i++) \
            pthread_join(threads[i], 0); \
        return 0; \
    }
#else
struct os_mutex {
    int owner;
};
struct os_rw {
    int holders;
};
#define OS_MUTEX {0}
#define OS_RW {0}
void os_mutex_take(struct os_mutex *);
int os_mutex_poll(struct os_mutex *);
void os_mutex_give(struct os_mutex *);
void os_rw_share(struct os_rw *);
void os_rw_own(struct os_rw *);
void os_rw_release(struct os_rw *);
void os_scheduler_stop(void);
void os_scheduler_go(void);
void os_take_for(int task, struct os_mutex *);
void os_give_for(int task, struct os_mutex *);
#endif

#endif
