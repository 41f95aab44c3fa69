/* `depend`: which tasks of one parent come after which. */
#include <stdlib.h>

#include "openmp.h"

/* As clang numbers the kinds. */
enum { IN = 1, OUT = 2, MUTEX_IN_OUT_SET = 4, IN_OUT_SET = 8, ALL_MEMORY = 128 };

/* Memory named by `depend`, as clang lays it out. */
struct clause {
    intptr_t address;
    size_t size;
    uint8_t kind;
};

struct user {
    struct explicit *task;
    struct user *next;
};

/* What the children of a task do with the memory at an address. Those of `last` are of one kind and are not ordered among
   themselves; each comes after all of `before`. */
struct dependence {
    intptr_t address;
    int kind;
    struct user *last, *before;
    /* Of `mutexinoutset`: held by the one of `last` that runs. */
    pthread_mutex_t *exclusion;
    struct dependence *next;
};

static void forget_users(struct user *user) {
    for (struct user *next; user; user = next) {
        next = user->next;
        free(user);
    }
}

void raceproof_omp_forget_dependences(struct task *task) {
    for (struct dependence *this = task->dependences, *next; this; this = next) {
        next = this->next;
        forget_users(this->last);
        forget_users(this->before);
        if (this->exclusion) {
            pthread_mutex_destroy(this->exclusion);
            free(this->exclusion);
        }
        free(this);
    }
    task->dependences = NULL;
}

/* Adds a task to those that have to be over. */
static void come_after(struct explicit *task, struct before **all) {
    struct before *before = calloc(1, sizeof *before);
    before->task = task;
    before->next = *all;
    *all = before;
}

static void come_after_all(const struct user *user, const struct explicit *task, struct before **all) {
    for (; user; user = user->next)
        if (user->task != task)
            come_after(user->task, all);
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

/* The kind in which a directive names the memory of its clause `at`: if it names it in several, it may write it. */
static int kind_of(int count, const struct clause *clauses, int at) {
    int kind = clauses[at].kind;
    for (int i = 0; i < count; i++)
        if (clauses[i].address == clauses[at].address && clauses[i].kind != kind)
            return OUT;
    return kind == (IN | OUT) ? OUT : kind;
}

static void hold(struct explicit *task, pthread_mutex_t *exclusion) {
    int at = task->exclusion_count;
    for (int i = 0; i < at; i++)
        if (task->exclusions[i] == exclusion)
            return;
    pthread_mutex_t **all = calloc(at + 1, sizeof *all);
    for (int i = 0; i < at; i++)
        all[i] = task->exclusions[i];
    for (; at > 0 && all[at - 1] > exclusion; at--)
        all[at] = all[at - 1];
    all[at] = exclusion;
    free(task->exclusions);
    task->exclusions = all;
    task->exclusion_count++;
}

/* What has to be waited for; and `task`, if there is one, to be waited for by others. */
static struct before *depend(struct explicit *task, int count, const struct clause *clauses) {
    struct before *all = NULL;
    for (int i = 0; i < count; i++) {
        struct dependence *on = dependence_on(clauses[i].address);
        int kind = kind_of(count, clauses, i);
        int joins = on->last && kind != OUT && on->kind == kind;
        come_after_all(joins ? on->before : on->last, task, &all);
        if (!task || (on->last && on->last->task == task))
            continue;
        if (!joins) {
            forget_users(on->before);
            on->before = on->last;
            on->last = NULL;
            on->kind = kind;
        }
        struct user *user = calloc(1, sizeof *user);
        user->task = task;
        user->next = on->last;
        on->last = user;
        if (kind == MUTEX_IN_OUT_SET) {
            if (!on->exclusion) {
                on->exclusion = calloc(1, sizeof *on->exclusion);
                pthread_mutex_init(on->exclusion, NULL);
            }
            hold(task, on->exclusion);
        }
    }
    return all;
}

/* Refuses where the program's directive is: this is inlined there. */
__attribute__((always_inline)) static inline void check_kinds(int count, const struct clause *clauses) {
    for (int i = 0; i < count; i++)
        if (clauses[i].kind & ALL_MEMORY)
            __rp_refuse("OpenMP: `depend` with `omp_all_memory` is not supported");
}

__attribute__((always_inline)) int __kmpc_omp_task_with_deps(ident *place, int number, void *body, int count,
                                                             struct clause *clauses, int unaliased,
                                                             struct clause *unaliased_clauses) {
    check_kinds(count, clauses);
    struct explicit *explicit = explicit_of(body);
    int included = is_included(explicit);
    if (!included) {
        explicit->has_successors = 1;
        pthread_rwlock_init(&explicit->end, NULL);
        sem_init(&explicit->held, 0, 0);
    }
    explicit->after = depend(included ? NULL : explicit, count, clauses);
    start_task(explicit);
    return 0;
}

/* Before an undeferred task, or as a construct of its own. */
__attribute__((always_inline)) void __kmpc_omp_wait_deps(ident *place, int number, int count, struct clause *clauses,
                                                         int unaliased, struct clause *unaliased_clauses) {
    check_kinds(count, clauses);
    raceproof_omp_member();
    raceproof_omp_await_ends(depend(NULL, count, clauses));
}

__attribute__((always_inline)) void __kmpc_omp_taskwait_deps_51(ident *place, int number, int count,
                                                                struct clause *clauses, int unaliased,
                                                                struct clause *unaliased_clauses, int nowait) {
    __kmpc_omp_wait_deps(place, number, count, clauses, unaliased, unaliased_clauses);
}
