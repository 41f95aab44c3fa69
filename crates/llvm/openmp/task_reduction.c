/* `task_reduction`, `in_reduction` and `reduction(task, ...)`: each task that takes part has a copy of its own, and all are
   combined where the group ends. A task hands what it and its children contribute to whoever joins it, so that nothing is
   shared and nothing is ordered but by the end of the group. */
#include <stdlib.h>
#include <string.h>

#include "openmp.h"

/* What is reduced, as clang lays it out. */
struct reduction {
    void *shared, *original;
    size_t size;
    void (*initialise)(void *copy, void *original);
    void (*finish)(void *copy);
    void (*combine)(void *into, void *copy);
    uint32_t flags;
};

struct reductions {
    int count;
    struct reduction *items;
};

struct copy {
    struct copy *next;
    const struct reduction *of;
    void *memory;
};

/* What a task and those it joined contribute goes to the task that joins it. */
void raceproof_omp_hand_up(struct task *task, struct task *to) {
    for (struct copy *copy = task->copies, *next; copy; copy = next) {
        next = copy->next;
        copy->next = to->copies;
        to->copies = copy;
    }
    task->copies = NULL;
}

/* Starts the reductions of the group that the task is in. */
void *__kmpc_taskred_init(int number, int count, const struct reduction *items) {
    raceproof_omp_member();
    struct group *group = raceproof_omp_task->group;
    struct reductions *new = calloc(1, sizeof *new);
    new->count = count;
    new->items = calloc(count, sizeof *items);
    memcpy(new->items, items, count * sizeof *items);
    group->reductions = new;
    return group;
}

void *__kmpc_task_reduction_init(int number, int count, const struct reduction *items) {
    return __kmpc_taskred_init(number, count, items);
}

/* `reduction(task, ...)` of a region or loop: the tasks of each thread reduce into its own copy. */
void *__kmpc_taskred_modifier_init(ident *place, int number, int is_loop, int count, const struct reduction *items) {
    __kmpc_taskgroup(place, number);
    return __kmpc_taskred_init(number, count, items);
}

void *__kmpc_task_reduction_modifier_init(ident *place, int number, int is_loop, int count,
                                          const struct reduction *items) {
    return __kmpc_taskred_modifier_init(place, number, is_loop, count, items);
}

void __kmpc_task_reduction_modifier_fini(ident *place, int number, int is_loop) {
    __kmpc_end_taskgroup(place, number);
}

/* What is reduced into a variable, or into what is the copy of one for a task around this one. */
static const struct reduction *reduction_of(const struct group *group, const void *variable) {
    for (; group; group = group->outer)
        for (int i = 0; group->reductions && i < group->reductions->count; i++)
            if (group->reductions->items[i].shared == variable)
                return &group->reductions->items[i];
    for (const struct task *task = raceproof_omp_task; task; task = task->parent)
        for (const struct copy *copy = task->copies; copy; copy = copy->next)
            if (copy->memory == variable)
                return copy->of;
    return NULL;
}

/* The task's copy of a variable that it takes part in the reduction of. */
void *__kmpc_task_reduction_get_th_data(int number, struct group *group, void *variable) {
    struct task *task = raceproof_omp_task;
    const struct reduction *of = reduction_of(group ? group : task->group, variable);
    if (!of)
        return variable;
    for (struct copy *copy = task->copies; copy; copy = copy->next)
        if (copy->of == of)
            return copy->memory;
    struct copy *new = calloc(1, sizeof *new);
    new->memory = calloc(1, of->size);
    new->of = of;
    if (of->initialise)
        of->initialise(new->memory, of->original);
    new->next = task->copies;
    task->copies = new;
    return new->memory;
}

/* Combines the copies of a group's reductions. Those of other groups stay. */
void raceproof_omp_reduce(struct group *group, struct task *task) {
    if (!group->reductions)
        return;
    const struct reduction *first = group->reductions->items, *end = first + group->reductions->count;
    for (struct copy **at = &task->copies; *at;) {
        struct copy *copy = *at;
        if (copy->of < first || copy->of >= end) {
            at = &copy->next;
            continue;
        }
        *at = copy->next;
        copy->of->combine(copy->of->shared, copy->memory);
        if (copy->of->finish)
            copy->of->finish(copy->memory);
        free(copy->memory);
        free(copy);
    }
    free(group->reductions->items);
    free(group->reductions);
}
