/* Cancellation: on if `OMP_CANCELLATION` says so. A thread that leaves a construct early passes the barrier at its end like
   the others, so that barriers stay matched. */
#include <stdlib.h>
#include <strings.h>

#include "openmp.h"

/* As clang numbers what is cancelled. */
enum { PARALLEL = 1, LOOP = 2, SECTIONS = 3, TASKGROUP = 4 };

int omp_get_cancellation(void) {
    const char *text = getenv("OMP_CANCELLATION");
    return text && (strcasecmp(text, "true") == 0 || atoi(text) == 1);
}

int raceproof_omp_is_cancelled(struct team *team, int construct) {
    return atomic_load_explicit(&team->cancelled, memory_order_relaxed) == construct;
}

/* Whether the thread has to leave the construct. */
int __kmpc_cancellationpoint(ident *place, int number, int construct) {
    struct member *self = raceproof_omp_member();
    if (!omp_get_cancellation())
        return 0;
    if (construct == TASKGROUP)
        return raceproof_omp_group_is_cancelled(raceproof_omp_task);
    return raceproof_omp_is_cancelled(self->team, construct);
}

int __kmpc_cancel(ident *place, int number, int construct) {
    struct member *self = raceproof_omp_member();
    if (!omp_get_cancellation())
        return 0;
    if (construct == TASKGROUP)
        raceproof_omp_cancel_group(raceproof_omp_task);
    else
        atomic_store_explicit(&self->team->cancelled, construct, memory_order_relaxed);
    return 1;
}

/* A barrier of a region or loop that may be cancelled: whether the region is. */
int __kmpc_cancel_barrier(ident *place, int number) {
    struct member *self = raceproof_omp_member();
    __kmpc_barrier(place, number);
    if (!omp_get_cancellation())
        return 0;
    if (raceproof_omp_is_cancelled(self->team, PARALLEL))
        return 1;
    /* A cancelled loop ends here, for all threads; the next one is another. */
    __kmpc_barrier(place, number);
    if (self->number == 0)
        atomic_store_explicit(&self->team->cancelled, 0, memory_order_relaxed);
    __kmpc_barrier(place, number);
    return 0;
}
