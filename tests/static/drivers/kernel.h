// What the drivers of this folder use of a kernel. For the static engine these are declarations, known by name through
// the option `--locks`; with -DMODEL they run on threads of the C library, each entry point called twice.
#ifndef KERNEL_H
#define KERNEL_H

#include <stddef.h>

#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

#ifdef MODEL
#include <pthread.h>
typedef struct {
    pthread_mutex_t model;
} spinlock_t;
struct mutex {
    pthread_mutex_t model;
};
struct semaphore {
    pthread_mutex_t model;
};
typedef struct {
    pthread_rwlock_t model;
} rwlock_t;
struct rw_semaphore {
    pthread_rwlock_t model;
};
#define LOCK_UNLOCKED {PTHREAD_MUTEX_INITIALIZER}
#define RWLOCK_UNLOCKED {PTHREAD_RWLOCK_INITIALIZER}

static inline void spin_lock(spinlock_t *l) { pthread_mutex_lock(&l->model); }
static inline void spin_unlock(spinlock_t *l) { pthread_mutex_unlock(&l->model); }
static inline int spin_trylock(spinlock_t *l) { return pthread_mutex_trylock(&l->model) == 0; }
static inline void spin_lock_irq(spinlock_t *l) { pthread_mutex_lock(&l->model); }
static inline void spin_unlock_irq(spinlock_t *l) { pthread_mutex_unlock(&l->model); }
static inline void spin_lock_bh(spinlock_t *l) { pthread_mutex_lock(&l->model); }
static inline void spin_unlock_bh(spinlock_t *l) { pthread_mutex_unlock(&l->model); }
static inline void spin_lock_irqsave(spinlock_t *l, unsigned long flags) {
    (void)flags;
    pthread_mutex_lock(&l->model);
}
static inline void spin_unlock_irqrestore(spinlock_t *l, unsigned long flags) {
    (void)flags;
    pthread_mutex_unlock(&l->model);
}
static inline void mutex_lock(struct mutex *l) { pthread_mutex_lock(&l->model); }
static inline int mutex_lock_interruptible(struct mutex *l) { return pthread_mutex_lock(&l->model); }
static inline int mutex_trylock(struct mutex *l) { return pthread_mutex_trylock(&l->model) == 0; }
static inline void mutex_unlock(struct mutex *l) { pthread_mutex_unlock(&l->model); }
static inline void down(struct semaphore *l) { pthread_mutex_lock(&l->model); }
static inline int down_trylock(struct semaphore *l) { return pthread_mutex_trylock(&l->model) != 0; }
static inline void up(struct semaphore *l) { pthread_mutex_unlock(&l->model); }
static inline void read_lock(rwlock_t *l) { pthread_rwlock_rdlock(&l->model); }
static inline void read_unlock(rwlock_t *l) { pthread_rwlock_unlock(&l->model); }
static inline void write_lock(rwlock_t *l) { pthread_rwlock_wrlock(&l->model); }
static inline void write_unlock(rwlock_t *l) { pthread_rwlock_unlock(&l->model); }
static inline void down_read(struct rw_semaphore *l) { pthread_rwlock_rdlock(&l->model); }
static inline void up_read(struct rw_semaphore *l) { pthread_rwlock_unlock(&l->model); }
static inline void down_write(struct rw_semaphore *l) { pthread_rwlock_wrlock(&l->model); }
static inline void up_write(struct rw_semaphore *l) { pthread_rwlock_unlock(&l->model); }
static inline void rcu_read_lock(void) {}
static inline void rcu_read_unlock(void) {}
static inline void local_irq_disable(void) {}
static inline void local_irq_enable(void) {}

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
            pthread_create(&threads[i], NULL, i % 2 ? model_a : model_b, NULL); \
        for (int i = 0; i < 4; i++) \
            pthread_join(threads[i], NULL); \
        return 0; \
    }

#else
typedef struct {
    unsigned raw;
} spinlock_t;
struct mutex {
    long owner;
};
struct semaphore {
    unsigned count;
};
typedef struct {
    unsigned raw;
} rwlock_t;
struct rw_semaphore {
    long count;
};
#define LOCK_UNLOCKED {0}
#define RWLOCK_UNLOCKED {0}

void spin_lock(spinlock_t *);
void spin_unlock(spinlock_t *);
int spin_trylock(spinlock_t *);
void spin_lock_irq(spinlock_t *);
void spin_unlock_irq(spinlock_t *);
void spin_lock_bh(spinlock_t *);
void spin_unlock_bh(spinlock_t *);
void spin_lock_irqsave(spinlock_t *, unsigned long);
void spin_unlock_irqrestore(spinlock_t *, unsigned long);
void mutex_lock(struct mutex *);
int mutex_lock_interruptible(struct mutex *);
int mutex_trylock(struct mutex *);
void mutex_unlock(struct mutex *);
void down(struct semaphore *);
int down_trylock(struct semaphore *);
void up(struct semaphore *);
void read_lock(rwlock_t *);
void read_unlock(rwlock_t *);
void write_lock(rwlock_t *);
void write_unlock(rwlock_t *);
void down_read(struct rw_semaphore *);
void up_read(struct rw_semaphore *);
void down_write(struct rw_semaphore *);
void up_write(struct rw_semaphore *);
void rcu_read_lock(void);
void rcu_read_unlock(void);
void local_irq_disable(void);
void local_irq_enable(void);
#endif

#define DEFINE_SPINLOCK(name) spinlock_t name = LOCK_UNLOCKED
#define DEFINE_MUTEX(name) struct mutex name = LOCK_UNLOCKED
#define DEFINE_SEMAPHORE(name) struct semaphore name = LOCK_UNLOCKED
#define DEFINE_RWLOCK(name) rwlock_t name = RWLOCK_UNLOCKED
#define DECLARE_RWSEM(name) struct rw_semaphore name = RWLOCK_UNLOCKED
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define rcu_dereference(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define rcu_assign_pointer(p, v) __atomic_store_n(&(p), v, __ATOMIC_RELEASE)

#endif
