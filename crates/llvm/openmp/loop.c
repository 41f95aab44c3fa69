/* Loops whose iterations a team shares out. */
#include <stdlib.h>
#include <string.h>

#include "openmp.h"

/* As clang numbers the schedules. */
enum {
    STATIC_CHUNKED = 33,
    STATIC = 34,
    DYNAMIC = 35,
    GUIDED = 36,
    RUNTIME = 37,
    AUTO = 38,
    TRAPEZOIDAL = 39,
    STATIC_BALANCED_CHUNKED = 45,
    /* Added where the loop has `ordered` parts. */
    ORDERED = 32,
    DISTRIBUTE_CHUNKED = 91,
    DISTRIBUTE = 92,
    /* Added where the loop must not be merged with others. */
    UNMERGED = 128,
    MODIFIERS = 3 << 29,
};

/* As clang numbers what is cancelled. */
enum { CANCELLED_LOOP = 2 };

/* What `schedule(runtime)` means to this thread, as `omp_set_schedule` said: `omp_sched_t` and a chunk. */
static _Thread_local int runtime_kind;
static _Thread_local int runtime_chunk;

enum { OMP_STATIC = 1, OMP_DYNAMIC = 2, OMP_GUIDED = 3, OMP_AUTO = 4, OMP_MONOTONIC = 1 << 31 };

void omp_set_schedule(int kind, int chunk) {
    runtime_kind = kind & ~OMP_MONOTONIC;
    runtime_chunk = chunk;
}

void omp_get_schedule(int *kind, int *chunk) {
    *kind = runtime_kind ? runtime_kind : OMP_STATIC;
    *chunk = runtime_chunk;
}

/* What `OMP_SCHEDULE` says where the program says nothing: "kind" or "kind,chunk". */
static void read_environment(void) {
    static const struct {
        const char *name;
        int kind;
    } kinds[] = {{"static", OMP_STATIC}, {"dynamic", OMP_DYNAMIC}, {"guided", OMP_GUIDED}, {"auto", OMP_AUTO}};
    const char *text = getenv("OMP_SCHEDULE");
    runtime_kind = OMP_STATIC;
    for (size_t i = 0; text && i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].name);
        if (strncmp(text, kinds[i].name, length) == 0 && (text[length] == 0 || text[length] == ',')) {
            runtime_kind = kinds[i].kind;
            runtime_chunk = text[length] == ',' ? atoi(text + length + 1) : 0;
        }
    }
}

/* Whether the schedule is one of loops with `ordered` parts. */
static int is_ordered(int schedule) {
    schedule &= ~MODIFIERS;
    schedule -= schedule >= UNMERGED ? UNMERGED : 0;
    return schedule >= STATIC_CHUNKED + ORDERED && schedule <= TRAPEZOIDAL + ORDERED;
}

/* Whether the iterations are for the teams of a league. */
static int is_distribute(int schedule) {
    schedule &= ~MODIFIERS;
    return schedule == DISTRIBUTE || schedule == DISTRIBUTE_CHUNKED;
}

/* Outside of leagues there is one team. */
static int league_size(const struct team *team) {
    return team->league_size ? team->league_size : 1;
}

/* One of `STATIC`, `STATIC_CHUNKED`, `DYNAMIC` and `GUIDED`. */
static int plain(int schedule, uint64_t *chunk) {
    int ordered = is_ordered(schedule);
    schedule &= ~MODIFIERS;
    schedule -= (schedule >= UNMERGED ? UNMERGED : 0) + (ordered ? ORDERED : 0);
    if (schedule == RUNTIME) {
        if (!runtime_kind)
            read_environment();
        *chunk = runtime_chunk > 0 ? runtime_chunk : 0;
        schedule = runtime_kind == OMP_DYNAMIC  ? DYNAMIC
                   : runtime_kind == OMP_GUIDED ? GUIDED
                   : *chunk                     ? STATIC_CHUNKED
                                                : STATIC;
    }
    switch (schedule) {
    case DYNAMIC:
    case GUIDED:
        return schedule;
    case TRAPEZOIDAL:
        return GUIDED;
    case STATIC_CHUNKED:
    case STATIC_BALANCED_CHUNKED:
    case DISTRIBUTE_CHUNKED:
        return STATIC_CHUNKED;
    default:
        return STATIC;
    }
}

/* The iterations of one thread when each of `size` gets one block: the first `count % size` one more. */
static void raceproof_omp_block(uint64_t count, uint64_t size, uint64_t number, uint64_t *first, uint64_t *length) {
    uint64_t extra = count % size;
    *length = count / size + (number < extra);
    *first = number * (count / size) + (number < extra ? number : extra);
}

/* How many iterations a loop has, by the type of its variable; in `uint64_t`, where subtraction wraps. */
#define COUNT(lower, upper, step)                                                                                      \
    ((step) > 0 ? ((lower) > (upper) ? 0 : ((uint64_t)(upper) - (uint64_t)(lower)) / (uint64_t)(step) + 1)             \
                : ((lower) < (upper) ? 0 : ((uint64_t)(lower) - (uint64_t)(upper)) / -(uint64_t)(step) + 1))

/* `schedule(static)`: one block of iterations each, or chunks in turn. */
#define STATIC_INIT(suffix, type, difference)                                                                          \
    void __kmpc_for_static_init_##suffix(ident *place, int number, int schedule, int *last, type *lower, type *upper,  \
                                         difference *stride, difference step, difference chunk) {                      \
        struct member *self = raceproof_omp_member();                                                                  \
        int apart = is_distribute(schedule);                                                                           \
        uint64_t size = apart ? league_size(self->team) : self->team->size, length = chunk > 0 ? chunk : 1;            \
        uint64_t me = apart ? self->team->league_number : self->number;                                                \
        uint64_t count = COUNT(*lower, *upper, step), first = 0;                                                       \
        if (count == 0) {                                                                                              \
            *last = 0;                                                                                                 \
            *stride = step > 0 ? 1 : -1;                                                                               \
            return;                                                                                                    \
        }                                                                                                              \
        if (plain(schedule, &length) == STATIC) {                                                                      \
            *stride = (difference)(count * step);                                                                      \
            raceproof_omp_block(count, size, me, &first, &length);                                                                   \
            *last = length > 0 && first + length == count;                                                             \
        } else {                                                                                                       \
            first = me * length;                                                                                       \
            *stride = (difference)(length * size * step);                                                              \
            *last = (count - 1) / length % size == me;                                                                 \
        }                                                                                                              \
        *lower = (type)(*lower + first * step);                                                                        \
        *upper = (type)(*lower + length * step - step);                                                                \
    }

STATIC_INIT(4, int32_t, int32_t)
STATIC_INIT(4u, uint32_t, int32_t)
STATIC_INIT(8, int64_t, int64_t)
STATIC_INIT(8u, uint64_t, int64_t)

void __kmpc_for_static_fini(ident *place, int number) {
}

/* A ticket holds the round in its upper half; one of an earlier round counts as 0. */
static uint64_t since(uint64_t ticket, uint64_t round) {
    return ticket >> 32 == round ? (uint32_t)ticket : 0;
}

static void start_turns(struct member *self, struct loop *loop);

/* Starts a loop. `lower` and `step` are those of the program; inside, iterations are counted from 0. */
static void start_loop(int schedule, uint64_t lower, uint64_t step, uint64_t count, uint64_t chunk) {
    struct member *self = raceproof_omp_member();
    struct loop *loop = &self->loop;
    if (count > UINT32_MAX / 2)
        __rp_refuse("OpenMP: a loop has more iterations than can be handed out one by one");
    memset(loop, 0, sizeof *loop);
    loop->ticket = &self->team->loops[self->loops % LOOPS];
    loop->round = ++self->loops;
    loop->chunk = chunk;
    loop->schedule = plain(schedule, &loop->chunk);
    loop->ordered = is_ordered(schedule);
    loop->lower = lower;
    loop->step = step;
    loop->count = count;
    loop->chunk = loop->chunk ? loop->chunk : 1;
    if (loop->ordered)
        start_turns(self, loop);
}

/* The number of the next chunk nobody has. Relaxed: who gets it orders nothing. */
static uint64_t raceproof_omp_next_chunk(struct loop *loop) {
    _Atomic uint64_t *next = &loop->ticket->next;
    if (loop->round <= LOOPS)
        return atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
    /* Another loop has used the ticket. */
    uint64_t ticket = atomic_load_explicit(next, memory_order_relaxed), chunk;
    do {
        /* Whoever went on to a later round found this loop without iterations. */
        if (ticket >> 32 > loop->round)
            return loop->count;
        chunk = since(ticket, loop->round);
    } while (!atomic_compare_exchange_strong_explicit(next, &ticket, loop->round << 32 | (chunk + 1),
                                                      memory_order_relaxed, memory_order_relaxed));
    return chunk;
}

/* Where a chunk starts that is handed out, and how long it is; behind the last iteration if there are fewer chunks. */
static void raceproof_omp_place_of(const struct loop *loop, uint64_t size, uint64_t chunk, uint64_t *first, uint64_t *length) {
    if (loop->schedule == DYNAMIC) {
        *first = chunk * loop->chunk;
        *length = loop->chunk;
    } else {
        *first = *length = 0;
        for (uint64_t i = 0; i <= chunk && *first < loop->count; i++) {
            *first += *length;
            uint64_t share = (loop->count - *first + size - 1) / size;
            *length = share > loop->chunk ? share : loop->chunk;
        }
    }
    if (*first < loop->count && *first + *length > loop->count)
        *length = loop->count - *first;
}

/* The next iterations for this thread: `length` from `first`. False when there are none. */
static int take(struct loop *loop, uint64_t size, uint64_t number, uint64_t *first, uint64_t *length) {
    switch (loop->schedule) {
    case STATIC:
        raceproof_omp_block(loop->count, size, number, first, length);
        return loop->taken++ == 0 && *length > 0;
    case STATIC_CHUNKED:
        *first = (loop->taken++ * size + number) * loop->chunk;
        break;
    case DYNAMIC:
    case GUIDED:
        raceproof_omp_place_of(loop, size, size == 1 ? loop->taken++ : raceproof_omp_next_chunk(loop), first, length);
        return *first < loop->count;
    }
    *length = loop->chunk;
    if (*first >= loop->count)
        return 0;
    if (*first + *length > loop->count)
        *length = loop->count - *first;
    return 1;
}

/* `schedule(dynamic)` and whatever else hands out iterations while the loop runs. */
#define DISPATCH(suffix, type, difference)                                                                             \
    void __kmpc_dispatch_init_##suffix(ident *place, int number, int schedule, type lower, type upper,                 \
                                       difference step, difference chunk) {                                            \
        start_loop(schedule, (uint64_t)lower, (uint64_t)step, COUNT(lower, upper, step), chunk > 0 ? chunk : 0);            \
    }                                                                                                                  \
                                                                                                                       \
    int __kmpc_dispatch_next_##suffix(ident *place, int number, int *last, type *lower, type *upper,                   \
                                      difference *stride) {                                                            \
        struct member *self = raceproof_omp_member();                                                                  \
        struct loop *loop = &self->loop;                                                                               \
        uint64_t first, length;                                                                                        \
        if (raceproof_omp_is_cancelled(self->team, CANCELLED_LOOP))                                                    \
            return 0;                                                                                                  \
        if (!take(loop, self->team->size, self->number, &first, &length))                                              \
            return 0;                                                                                                  \
        loop->iteration = first;                                                                                       \
        *lower = (type)(loop->lower + first * loop->step);                                                             \
        *upper = (type)(*lower + (length - 1) * loop->step);                                                           \
        *stride = (difference)loop->step;                                                                              \
        if (last)                                                                                                      \
            *last = first + length == loop->count;                                                                     \
        return 1;                                                                                                      \
    }                                                                                                                  \
                                                                                                                       \
    void __kmpc_dispatch_fini_##suffix(ident *place, int number) {                                                     \
        finish_iteration();                                                                                            \
    }

/* The turns of a loop with `ordered` parts. Each semaphore is posted by the iteration before and waited for by one thread. */
static void start_turns(struct member *self, struct loop *loop) {
    uint64_t which = self->ordered_loops++ % ORDERED_LOOPS;
    sem_t *turns = self->team->turns;
    loop->turns = turns && loop->count <= ORDERED_ITERATIONS ? turns + which * ORDERED_ITERATIONS : NULL;
}

void raceproof_omp_begin_ordered(struct team *team) {
    team->turns = calloc(ORDERED_LOOPS * ORDERED_ITERATIONS, sizeof *team->turns);
    for (int i = 0; i < ORDERED_LOOPS * ORDERED_ITERATIONS; i++)
        sem_init(&team->turns[i], 0, 0);
}

void raceproof_omp_end_ordered(struct team *team) {
    for (int i = 0; i < ORDERED_LOOPS * ORDERED_ITERATIONS; i++)
        sem_destroy(&team->turns[i]);
    free(team->turns);
}

/* Waits until all earlier iterations of the loop have passed their `ordered` part. */
void __kmpc_ordered(ident *place, int number) {
    struct member *self = raceproof_omp_member();
    struct loop *loop = &self->loop;
    if (!loop->ordered || self->team->size == 1)
        return;
    if (loop->turns) {
        if (loop->iteration > 0)
            sem_wait(&loop->turns[loop->iteration]);
        return;
    }
    while (since(atomic_load_explicit(&loop->ticket->turn, memory_order_acquire), loop->round) != loop->iteration) {
    }
}

void __kmpc_end_ordered(ident *place, int number) {
    struct member *self = raceproof_omp_member();
    struct loop *loop = &self->loop;
    if (!loop->ordered || self->team->size == 1)
        return;
    loop->passed = 1;
    if (!loop->turns)
        atomic_store_explicit(&loop->ticket->turn, loop->round << 32 | (loop->iteration + 1), memory_order_release);
    else if (loop->iteration + 1 < loop->count)
        sem_post(&loop->turns[loop->iteration + 1]);
}

/* The end of one iteration of a loop with `ordered` parts; it may not have come to its own. */
static void finish_iteration(void) {
    struct loop *loop = &raceproof_omp_member()->loop;
    if (!loop->passed) {
        __kmpc_ordered(NULL, 0);
        __kmpc_end_ordered(NULL, 0);
    }
    loop->passed = 0;
    loop->iteration++;
}

DISPATCH(4, int32_t, int32_t)
DISPATCH(4u, uint32_t, int32_t)
DISPATCH(8, int64_t, int64_t)
DISPATCH(8u, uint64_t, int64_t)

void __kmpc_dispatch_deinit(ident *place, int number) {
}
