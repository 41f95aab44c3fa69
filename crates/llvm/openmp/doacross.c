/* `ordered(n)` with `depend(sink)` and `depend(source)`: iterations wait for iterations that the program names. */
#include <stdlib.h>

#include "openmp.h"

/* The bounds of one of the loops, as clang lays them out. */
struct dimension {
    int64_t lower, upper, step;
};

/* A loop nest that a team shares out. */
struct doacross {
    /* Which of the region's loops it is, from 1. */
    uint64_t round;
    int dimensions;
    struct dimension *bounds;
    uint64_t count;
    /* Of each iteration: whether it has passed its `source`. */
    _Atomic int passed[];
};

static uint64_t length(const struct dimension *bounds) {
    if (bounds->step > 0)
        return bounds->upper < bounds->lower ? 0 : (uint64_t)(bounds->upper - bounds->lower) / bounds->step + 1;
    return bounds->upper > bounds->lower ? 0 : (uint64_t)(bounds->lower - bounds->upper) / -bounds->step + 1;
}

static struct doacross *new_doacross(uint64_t round, int dimensions, const struct dimension *bounds) {
    uint64_t count = 1;
    for (int i = 0; i < dimensions; i++)
        count *= length(&bounds[i]);
    if (count > 1 << 24)
        __rp_refuse("OpenMP: a loop with `depend(sink)` has too many iterations");
    struct doacross *new = calloc(1, sizeof *new + (count + 1) * sizeof *new->passed + dimensions * sizeof *bounds);
    new->round = round;
    new->dimensions = dimensions;
    new->count = count;
    new->bounds = (struct dimension *)(void *)&new->passed[count + (count & 1)];
    for (int i = 0; i < dimensions; i++)
        new->bounds[i] = bounds[i];
    return new;
}

/* The first thread that comes makes what the others find. */
void __kmpc_doacross_init(ident *place, int number, int dimensions, const struct dimension *bounds) {
    struct member *self = raceproof_omp_member();
    uint64_t round = ++self->doacross_loops;
    struct doacross *_Atomic *slot = &self->team->doacross[round % LOOPS];
    struct doacross *new = new_doacross(round, dimensions, bounds);
    struct doacross *there = atomic_load_explicit(slot, memory_order_relaxed);
    while (!there || there->round < round)
        if (atomic_compare_exchange_strong_explicit(slot, &there, new, memory_order_relaxed, memory_order_relaxed))
            there = new;
    if (there != new)
        free(new);
    self->doacross = there;
}

void __kmpc_doacross_fini(ident *place, int number) {
    raceproof_omp_member()->doacross = NULL;
}

/* The number of an iteration; one that the loops do not have is as large as their count. */
static uint64_t iteration(const struct doacross *loop, const int64_t *at) {
    uint64_t number = 0;
    for (int i = 0; i < loop->dimensions; i++) {
        const struct dimension *bounds = &loop->bounds[i];
        int64_t from = bounds->step > 0 ? at[i] - bounds->lower : bounds->lower - at[i];
        int64_t step = bounds->step > 0 ? bounds->step : -bounds->step;
        if (from < 0 || from % step || (uint64_t)(from / step) >= length(bounds))
            return loop->count;
        number = number * length(bounds) + from / step;
    }
    return number;
}

/* `sink`: waits until that iteration has passed its `source`. */
void __kmpc_doacross_wait(ident *place, int number, const int64_t *at) {
    struct doacross *loop = raceproof_omp_member()->doacross;
    uint64_t sink = iteration(loop, at);
    if (sink == loop->count)
        return;
    while (!atomic_load_explicit(&loop->passed[sink], memory_order_acquire)) {
    }
}

/* `source`. */
void __kmpc_doacross_post(ident *place, int number, const int64_t *at) {
    struct doacross *loop = raceproof_omp_member()->doacross;
    atomic_store_explicit(&loop->passed[iteration(loop, at)], 1, memory_order_release);
}

void raceproof_omp_end_doacross(struct team *team) {
    for (int i = 0; i < LOOPS; i++)
        free(atomic_load_explicit(&team->doacross[i], memory_order_relaxed));
}
