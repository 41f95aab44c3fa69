/* `taskloop`. */
#include <stdlib.h>
#include <string.h>

#include "openmp.h"

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
