/* Explicit tasks. */
#include <stdlib.h>
#include <string.h>

#include "openmp.h"

/* As clang numbers them. */
enum { FINAL = 2, DESTRUCTORS = 8, DETACHABLE = 64 };
enum { IN = 1, OUT = 2, MUTEX_IN_OUT_SET = 4 };

/* A task as clang lays it out; private copies and addresses of shared variables follow. */
struct body {
    void *shared;
    int (*code)(int, void *);
    int part;
    int (*destructors)(int, void *);
    void *data;
};

/* Memory named by `depend`, as clang lays it out. */
struct clause {
    intptr_t address;
    size_t size;
    uint8_t kind;
};

/* One task comes before another by `depend`: the later one waits for the semaphore. */
struct edge {
    sem_t passed;
    /* Among those that start at the same task, and that end at the same. */
    struct edge *next_out, *next_in;
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
    int flags;
    size_t size;
    /* An undeferred task: what its thread goes on with. */
    struct task *interrupted;
    struct edge *in;
    /* Tasks that wait for it, and whether it is over, so that none need to wait. */
    int has_successors;
    pthread_mutex_t lock;
    struct edge *out;
    int over;
    struct body body;
};

struct group {
    struct group *outer;
};

struct reader {
    struct explicit *task;
    struct reader *next;
};

/* The last child that may have written the memory at an address, and those that read it since. */
struct dependence {
    intptr_t address;
    struct explicit *writer;
    struct reader *readers;
    struct dependence *next;
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

/* Refuses where the program's directive is: what checks that is inlined there. */
__attribute__((always_inline)) void *__kmpc_omp_task_alloc(ident *place, int number, int flags, size_t size,
                                                           size_t shared_size, int (*code)(int, void *)) {
    if (flags & DETACHABLE)
        __rp_refuse("OpenMP: the clause `detach` of a task is not supported");
    return new_task(flags, size, shared_size, code);
}

static void run(struct explicit *explicit) {
    int number = explicit->task.member->number;
    explicit->body.code(number, &explicit->body);
    if (explicit->flags & DESTRUCTORS)
        explicit->body.destructors(number, &explicit->body);
}

/* Lets those go on that wait for the task by `depend`. */
static void release_successors(struct explicit *explicit) {
    pthread_mutex_lock(&explicit->lock);
    explicit->over = 1;
    pthread_mutex_unlock(&explicit->lock);
    for (struct edge *edge = explicit->out, *next; edge; edge = next) {
        next = edge->next_out;
        sem_post(&edge->passed);
    }
}

static void await(struct edge *edge) {
    for (struct edge *next; edge; edge = next) {
        next = edge->next_in;
        sem_wait(&edge->passed);
        sem_destroy(&edge->passed);
        free(edge);
    }
}

static void *execute_task(void *argument) {
    struct explicit *explicit = argument;
    raceproof_omp_self = explicit->task.member;
    raceproof_omp_task = &explicit->task;
    await(explicit->in);
    run(explicit);
    if (explicit->has_successors)
        release_successors(explicit);
    sem_post(&explicit->done);
    raceproof_omp_join(&explicit->task);
    return NULL;
}

static void forget_dependences(struct task *task) {
    for (struct dependence *this = task->dependences, *next; this; this = next) {
        next = this->next;
        for (struct reader *reader = this->readers, *later; reader; reader = later) {
            later = reader->next;
            free(reader);
        }
        free(this);
    }
    task->dependences = NULL;
}

/* Waits for the thread of a child, and so for those of its children. */
static void join_child(struct explicit *child) {
    if (!child->joined)
        pthread_join(child->thread, NULL);
    child->joined = 1;
}

void raceproof_omp_join(struct task *task) {
    for (struct explicit *child = task->children, *next; child; child = next) {
        next = child->sibling;
        join_child(child);
        sem_destroy(&child->done);
        if (child->has_successors)
            pthread_mutex_destroy(&child->lock);
        free(child);
    }
    task->children = NULL;
    forget_dependences(task);
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
    for (struct explicit *child = explicit->task.children, *next; child; child = next) {
        next = child->sibling;
        child->waited = 1;
        child->sibling = parent->children;
        parent->children = child;
    }
    forget_dependences(&explicit->task);
    raceproof_omp_task = parent;
    free(explicit);
}

__attribute__((always_inline)) static inline void start_task(struct explicit *explicit) {
    struct task *parent = raceproof_omp_task;
    if (explicit->task.member->team->size == 1 || parent->final) {
        __kmpc_omp_task_begin_if0(NULL, 0, &explicit->body);
        await(explicit->in);
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

/* Adds an edge from a task to the owner of `in`, unless the task is over. */
static void come_after(struct explicit *task, struct edge **in) {
    struct edge *edge = NULL;
    pthread_mutex_lock(&task->lock);
    if (!task->over) {
        edge = calloc(1, sizeof *edge);
        sem_init(&edge->passed, 0, 0);
        edge->next_out = task->out;
        task->out = edge;
    }
    pthread_mutex_unlock(&task->lock);
    if (edge) {
        edge->next_in = *in;
        *in = edge;
    }
}

static struct dependence *dependence_on(intptr_t address) {
    struct task *parent = raceproof_omp_task;
    struct dependence *found = parent->dependences;
    while (found && found->address != address)
        found = found->next;
    if (!found) {
        found = calloc(1, sizeof *found);
        found->address = address;
        found->next = parent->dependences;
        parent->dependences = found;
    }
    return found;
}

/* What has to be waited for; and `task`, if there is one, to be waited for by others. */
static struct edge *depend(struct explicit *task, int count, const struct clause *clauses) {
    struct edge *in = NULL;
    for (int i = 0; i < count; i++) {
        struct dependence *on = dependence_on(clauses[i].address);
        if (clauses[i].kind == IN) {
            if (on->writer && on->writer != task)
                come_after(on->writer, &in);
            if (task) {
                struct reader *reader = calloc(1, sizeof *reader);
                reader->task = task;
                reader->next = on->readers;
                on->readers = reader;
            }
            continue;
        }
        if (on->writer && on->writer != task && !on->readers)
            come_after(on->writer, &in);
        for (struct reader *reader = on->readers, *next; reader; reader = next) {
            next = reader->next;
            if (reader->task != task)
                come_after(reader->task, &in);
            if (task)
                free(reader);
        }
        if (task) {
            on->readers = NULL;
            on->writer = task;
        }
    }
    return in;
}

__attribute__((always_inline)) static inline void check_kinds(int count, const struct clause *clauses) {
    for (int i = 0; i < count; i++) {
        if (clauses[i].kind & MUTEX_IN_OUT_SET)
            __rp_refuse("OpenMP: `depend(mutexinoutset: ...)` is not supported");
        if (clauses[i].kind & ~(IN | OUT))
            __rp_refuse("OpenMP: a kind of `depend` other than `in`, `out` and `inout` is not supported");
    }
}

__attribute__((always_inline)) int __kmpc_omp_task_with_deps(ident *place, int number, void *body, int count, struct clause *clauses, int unaliased,
                              struct clause *unaliased_clauses) {
    check_kinds(count, clauses);
    struct explicit *explicit = explicit_of(body);
    int included = explicit->task.member->team->size == 1 || raceproof_omp_task->final;
    if (!included) {
        explicit->has_successors = 1;
        pthread_mutex_init(&explicit->lock, NULL);
    }
    explicit->in = depend(included ? NULL : explicit, count, clauses);
    start_task(explicit);
    return 0;
}

/* Before an undeferred task, or as a construct of its own. */
__attribute__((always_inline)) void __kmpc_omp_wait_deps(ident *place, int number, int count, struct clause *clauses, int unaliased,
                          struct clause *unaliased_clauses) {
    check_kinds(count, clauses);
    raceproof_omp_member();
    await(depend(NULL, count, clauses));
}

__attribute__((always_inline)) void __kmpc_omp_taskwait_deps_51(ident *place, int number, int count, struct clause *clauses, int unaliased,
                                 struct clause *unaliased_clauses, int nowait) {
    __kmpc_omp_wait_deps(place, number, count, clauses, unaliased, unaliased_clauses);
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
            join_child(child);
    raceproof_omp_task->group = group->outer;
    free(group);
}

enum { GRAINSIZE = 1, NUM_TASKS = 2 };

/* `taskloop`: `pattern` is copied for each piece of the loop. Its bounds are inside of it, at `lower` and `upper`. */
__attribute__((always_inline)) void __kmpc_taskloop(ident *place, int number, void *pattern, int deferred, uint64_t *lower, uint64_t *upper,
                     int64_t step, int nogroup, int how, uint64_t size, void (*duplicate)(void *, void *, int)) {
    struct explicit *whole = explicit_of(pattern);
    ptrdiff_t lower_at = (char *)lower - (char *)pattern, upper_at = (char *)upper - (char *)pattern;
    uint64_t first = *lower, end = *upper;
    uint64_t count = step > 0 ? ((int64_t)end < (int64_t)first ? 0 : (end - first) / step + 1)
                              : ((int64_t)end > (int64_t)first ? 0 : (first - end) / -step + 1);
    uint64_t pieces = how == GRAINSIZE ? (size && count / size ? count / size : 1)
                      : how == NUM_TASKS ? size
                                         : 2 * (uint64_t)whole->task.member->team->size;
    if (pieces > count)
        pieces = count;
    if (!nogroup)
        __kmpc_taskgroup(place, number);
    for (uint64_t piece = 0, done = 0; piece < pieces; piece++) {
        uint64_t length = count / pieces + (piece < count % pieces);
        struct explicit *part = allocate(whole->size);
        part->flags = whole->flags;
        part->task.final = whole->task.final;
        memcpy(&part->body, &whole->body, whole->size - offsetof(struct explicit, body));
        if (whole->body.shared)
            part->body.shared = (char *)part + ((char *)whole->body.shared - (char *)whole);
        *(uint64_t *)((char *)&part->body + lower_at) = first + done * step;
        *(uint64_t *)((char *)&part->body + upper_at) = first + (done + length - 1) * step;
        if (duplicate)
            duplicate(&part->body, pattern, piece == pieces - 1);
        done += length;
        if (deferred) {
            start_task(part);
        } else {
            __kmpc_omp_task_begin_if0(place, number, &part->body);
            run(part);
            __kmpc_omp_task_complete_if0(place, number, &part->body);
        }
    }
    free(whole);
    if (!nogroup)
        __kmpc_end_taskgroup(place, number);
}

void __kmpc_taskloop_5(ident *place, int number, void *pattern, int deferred, uint64_t *lower, uint64_t *upper,
                       int64_t step, int nogroup, int how, uint64_t size, int modifier,
                       void (*duplicate)(void *, void *, int)) {
    __kmpc_taskloop(place, number, pattern, deferred, lower, upper, step, nogroup, how, size, duplicate);
}
