/* Explicit tasks. */
#include <stdlib.h>
#include <string.h>

#include "openmp.h"

/* As clang numbers them. */
enum { FINAL = 2, DESTRUCTORS = 8, DETACHABLE = 64 };

/* A task as clang lays it out; private copies and addresses of shared variables follow. */
struct body {
    void *shared;
    int (*code)(int, void *);
    int part;
    int (*destructors)(int, void *);
    void *data;
};

/* A task that has to be over before another starts, by `depend`. */
struct before {
    struct explicit *task;
    struct before *next;
};

/* An explicit task. */
struct explicit {
    struct task task;
    /* Among the children of the task that made it. */
    struct explicit *sibling;
    /* The `taskgroup` that waits for it. */
    struct group *member_of;
    pthread_t thread;
    /* The end of its own code, while its children may go on: its parent waits for it in `taskwait`, once. */
    sem_t done;
    int waited, joined;
    /* An untied task asks for its next part by making itself a task once more. */
    int again;
    int flags;
    size_t size;
    /* An undeferred task: what its thread goes on with. */
    struct task *interrupted;
    struct before *after;
    /* Mutexes of `mutexinoutset` that it holds while it runs, in the order of their addresses. */
    pthread_mutex_t **exclusions;
    int exclusion_count;
    /* `detach`: posted when the event is fulfilled, without which the task is not complete. */
    sem_t fulfilled;
    /* Whether others may wait for it: it holds `end` for writing, from before its thread is known to anybody until it is
       over. Those who wait for it read: they do so in one order, and nothing orders them with each other. */
    int has_successors;
    pthread_rwlock_t end;
    sem_t held;
    struct body body;
};

struct group {
    struct group *outer;
    /* What its tasks reduce, see `task_reduction.c`. */
    struct reductions *reductions;
    _Atomic int cancelled;
};

static struct explicit *explicit_of(void *body) {
    return (struct explicit *)((char *)body - offsetof(struct explicit, body));
}

static struct explicit *allocate(size_t size) {
    struct explicit *new = calloc(1, size);
    if (!new)
        __rp_refuse("OpenMP: there is no memory for a task");
    new->size = size;
    new->task.member = raceproof_omp_member();
    new->task.parent = raceproof_omp_task;
    return new;
}

static void *new_task(int flags, size_t size, size_t shared_size, int (*code)(int, void *)) {
    size_t room = (size + 15) / 16 * 16;
    struct explicit *new = allocate(offsetof(struct explicit, body) + room + shared_size);
    new->flags = flags;
    new->task.final = (flags & FINAL) != 0 || raceproof_omp_task->final;
    new->body.shared = shared_size ? (char *)&new->body + room : NULL;
    new->body.code = code;
    return &new->body;
}

void *__kmpc_omp_task_alloc(ident *place, int number, int flags, size_t size, size_t shared_size,
                            int (*code)(int, void *)) {
    void *body = new_task(flags, size, shared_size, code);
    if (flags & DETACHABLE)
        sem_init(&explicit_of(body)->fulfilled, 0, 0);
    return body;
}

void *__kmpc_omp_target_task_alloc(ident *place, int number, int flags, size_t size, size_t shared_size,
                                   int (*code)(int, void *), int64_t device) {
    return __kmpc_omp_task_alloc(place, number, flags, size, shared_size, code);
}

/* The event of a task with `detach` is the task. */
void *__kmpc_task_allow_completion_event(ident *place, int number, void *body) {
    return explicit_of(body);
}

void omp_fulfill_event(struct explicit *event) {
    sem_post(&event->fulfilled);
}

/* Waits for the event of a task with `detach`. */
static void await_event(struct explicit *explicit) {
    if (explicit->flags & DETACHABLE) {
        sem_wait(&explicit->fulfilled);
        sem_destroy(&explicit->fulfilled);
    }
}

/* Executes its code; not if the group was cancelled before. */
static void run(struct explicit *explicit) {
    int number = explicit->task.member->number;
    for (int i = 0; i < explicit->exclusion_count; i++)
        pthread_mutex_lock(explicit->exclusions[i]);
    do {
        explicit->again = 0;
        if (!raceproof_omp_group_is_cancelled(&explicit->task))
            explicit->body.code(number, &explicit->body);
    } while (explicit->again);
    if (explicit->flags & DESTRUCTORS)
        explicit->body.destructors(number, &explicit->body);
    for (int i = explicit->exclusion_count; i > 0; i--)
        pthread_mutex_unlock(explicit->exclusions[i - 1]);
    free(explicit->exclusions);
    explicit->exclusion_count = 0;
}

/* The thread of a task that others may wait for. */
static void raceproof_omp_hold_end(struct explicit *explicit) {
    pthread_rwlock_wrlock(&explicit->end);
    sem_post(&explicit->held);
}

/* Lets those go on that wait for the task by `depend`. */
static void raceproof_omp_release_end(struct explicit *explicit) {
    pthread_rwlock_unlock(&explicit->end);
}

/* Whoever made the task goes on when its end can be waited for. */
static void raceproof_omp_await_hold(struct explicit *explicit) {
    sem_wait(&explicit->held);
}

static void raceproof_omp_await_ends(struct before *before) {
    for (struct before *next; before; before = next) {
        next = before->next;
        pthread_rwlock_rdlock(&before->task->end);
        pthread_rwlock_unlock(&before->task->end);
        free(before);
    }
}

static void *execute_task(void *argument) {
    struct explicit *explicit = argument;
    raceproof_omp_self = explicit->task.member;
    raceproof_omp_task = &explicit->task;
    if (explicit->has_successors)
        raceproof_omp_hold_end(explicit);
    raceproof_omp_await_ends(explicit->after);
    run(explicit);
    await_event(explicit);
    if (explicit->has_successors)
        raceproof_omp_release_end(explicit);
    sem_post(&explicit->done);
    raceproof_omp_join(&explicit->task);
    return NULL;
}

/* Waits for the thread of a child of a task, and so for those of its children. */
static void join_child(struct task *task, struct explicit *child) {
    if (child->joined)
        return;
    pthread_join(child->thread, NULL);
    child->joined = 1;
    raceproof_omp_hand_up(&child->task, task);
}

void raceproof_omp_join(struct task *task) {
    for (struct explicit *child = task->children, *next; child; child = next) {
        next = child->sibling;
        join_child(task, child);
        sem_destroy(&child->done);
        if (child->has_successors) {
            pthread_rwlock_destroy(&child->end);
            sem_destroy(&child->held);
        }
        free(child);
    }
    task->children = NULL;
    for (struct explicit *this = task->finished, *next; this; this = next) {
        next = this->sibling;
        raceproof_omp_forget_dependences(&this->task);
        free(this);
    }
    task->finished = NULL;
    raceproof_omp_forget_dependences(task);
}

/* Starts an undeferred task: the thread that meets it executes it. */
void __kmpc_omp_task_begin_if0(ident *place, int number, void *body) {
    struct explicit *explicit = explicit_of(body);
    explicit->interrupted = raceproof_omp_task;
    explicit->task.group = raceproof_omp_task->group;
    raceproof_omp_task = &explicit->task;
}

/* Its children go on. The interrupted task joins them when it joins its own; its `taskwait` does not wait for them. */
void __kmpc_omp_task_complete_if0(ident *place, int number, void *body) {
    struct explicit *explicit = explicit_of(body);
    struct task *parent = explicit->interrupted;
    if (explicit->again)
        run(explicit);
    int has_children = explicit->task.children != NULL;
    await_event(explicit);
    for (struct explicit *child = explicit->task.children, *next; child; child = next) {
        next = child->sibling;
        child->waited = 1;
        child->sibling = parent->children;
        parent->children = child;
    }
    raceproof_omp_hand_up(&explicit->task, parent);
    raceproof_omp_task = parent;
    if (has_children) {
        /* They may look at it, and wait for each other by what it knows. */
        explicit->sibling = parent->finished;
        parent->finished = explicit;
        return;
    }
    raceproof_omp_forget_dependences(&explicit->task);
    free(explicit);
}

/* Whether the thread that meets a task executes it at once. A task that waits for an event has a thread in any case. */
static int is_included(const struct explicit *explicit) {
    int alone = explicit->task.member->team->size == 1 || raceproof_omp_task->final;
    return alone && !(explicit->flags & DETACHABLE);
}

__attribute__((always_inline)) static inline void start_task(struct explicit *explicit) {
    struct task *parent = raceproof_omp_task;
    if (&explicit->task == parent) {
        explicit->again = 1;
        return;
    }
    if (is_included(explicit)) {
        __kmpc_omp_task_begin_if0(NULL, 0, &explicit->body);
        raceproof_omp_await_ends(explicit->after);
        run(explicit);
        __kmpc_omp_task_complete_if0(NULL, 0, &explicit->body);
        return;
    }
    explicit->member_of = parent->group;
    explicit->task.group = parent->group;
    explicit->sibling = parent->children;
    parent->children = explicit;
    sem_init(&explicit->done, 0, 0);
    if (pthread_create(&explicit->thread, NULL, execute_task, explicit))
        __rp_refuse("OpenMP: the thread of a task cannot be created");
    if (explicit->has_successors)
        raceproof_omp_await_hold(explicit);
}

__attribute__((always_inline)) int __kmpc_omp_task(ident *place, int number, void *body) {
    start_task(explicit_of(body));
    return 0;
}

int __kmpc_omp_task_parts(ident *place, int number, void *body) {
    return __kmpc_omp_task(place, number, body);
}

int __kmpc_omp_reg_task_with_affinity(ident *place, int number, void *body, int count, void *list) {
    return 0;
}

int __kmpc_omp_taskwait(ident *place, int number) {
    raceproof_omp_member();
    for (struct explicit *child = raceproof_omp_task->children; child; child = child->sibling) {
        if (!child->waited)
            sem_wait(&child->done);
        child->waited = 1;
    }
    return 0;
}

int __kmpc_omp_taskyield(ident *place, int number, int end) {
    return 0;
}

void __kmpc_taskgroup(ident *place, int number) {
    raceproof_omp_member();
    struct group *group = calloc(1, sizeof *group);
    group->outer = raceproof_omp_task->group;
    raceproof_omp_task->group = group;
}

void __kmpc_end_taskgroup(ident *place, int number) {
    struct group *group = raceproof_omp_task->group;
    for (struct explicit *child = raceproof_omp_task->children; child; child = child->sibling)
        if (child->member_of == group)
            join_child(raceproof_omp_task, child);
    raceproof_omp_reduce(group, raceproof_omp_task);
    raceproof_omp_task->group = group->outer;
    free(group);
}

int raceproof_omp_group_is_cancelled(struct task *task) {
    return task->group && atomic_load_explicit(&task->group->cancelled, memory_order_relaxed);
}

void raceproof_omp_cancel_group(struct task *task) {
    if (task->group)
        atomic_store_explicit(&task->group->cancelled, 1, memory_order_relaxed);
}

