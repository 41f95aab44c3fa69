/* Regions: teams, the threads in them, and what they do together. */
#include <stdlib.h>
#include <string.h>

#include "openmp.h"

/* A thread that waits for regions. It serves one thread of the program, so that its thread-private variables last. */
struct worker {
    pthread_t thread;
    sem_t start, end;
    struct member member;
    /* Whose region comes next, and as which of its threads. */
    struct team *team;
    int number;
};

_Thread_local struct member *raceproof_omp_self;
_Thread_local struct task *raceproof_omp_task;

static _Thread_local struct worker **workers;
static _Thread_local int worker_count;
/* How many of them, from the first on, are in regions around the next one. */
static _Thread_local int employed;
/* The clause `num_threads` of the region to come; 0: none. */
static _Thread_local int wanted;
static _Thread_local struct member alone;
static _Thread_local struct team alone_team;
/* What `omp_set_num_threads` said in this thread; 0: nothing. */
static _Thread_local int chosen;

/* How many threads a team has where the program does not say. */
enum { THREADS = 2 };

struct member *raceproof_omp_member(void) {
    if (!raceproof_omp_self) {
        alone_team.size = 1;
        alone.team = &alone_team;
        alone.task.member = &alone;
        raceproof_omp_self = &alone;
        raceproof_omp_task = &alone.task;
    }
    return raceproof_omp_self;
}

int raceproof_omp_max_threads(void) {
    if (chosen)
        return chosen;
    const char *named = getenv("OMP_NUM_THREADS");
    int count = named ? atoi(named) : THREADS;
    return count > 0 ? count : 1;
}

void omp_set_num_threads(int count) {
    chosen = count > 0 ? count : 1;
}

/* Whether this is a league, whose threads have teams of their own. */
static int raceproof_omp_is_league(const struct team *team) {
    return team->league_size && team->level == team->outer->level;
}

/* Makes the calling thread a member of a team and executes the team's region. */
static void raceproof_omp_execute_region(struct member *member, struct team *team, int number) {
    struct team own;
    if (raceproof_omp_is_league(team)) {
        own = *team;
        own.league_number = number;
        team = &own;
        number = 0;
    }
    int bound = number;
    memset(member, 0, sizeof *member);
    member->team = team;
    member->number = number;
    member->task.member = member;
    raceproof_omp_self = member;
    raceproof_omp_task = &member->task;
    team->code(team->arguments, &number, &bound);
    raceproof_omp_join(&member->task);
}

static void *raceproof_omp_work(void *argument) {
    struct worker *worker = argument;
    for (;;) {
        sem_wait(&worker->start);
        raceproof_omp_execute_region(&worker->member, worker->team, worker->number);
        sem_post(&worker->end);
    }
    return NULL;
}

/* Makes room for `count` workers. */
static void raceproof_omp_make_room(int count) {
    struct worker **all = calloc(count, sizeof *all);
    if (workers) {
        memcpy(all, workers, worker_count * sizeof *all);
        free(workers);
    }
    workers = all;
}

static struct worker *raceproof_omp_new_worker(void) {
    struct worker *worker = calloc(1, sizeof *worker);
    sem_init(&worker->start, 0, 0);
    sem_init(&worker->end, 0, 0);
    return worker;
}

static void raceproof_omp_check_creation(int error) {
    if (error)
        __rp_refuse("OpenMP: a thread of a team cannot be created");
}

/* Sees to it that the thread has `count` workers. */
__attribute__((always_inline)) static inline void hire(int count) {
    if (count <= worker_count)
        return;
    raceproof_omp_make_room(count);
    for (; worker_count < count; worker_count++) {
        struct worker *worker = raceproof_omp_new_worker();
        workers[worker_count] = worker;
        raceproof_omp_check_creation(pthread_create(&worker->thread, NULL, raceproof_omp_work, worker));
    }
}

static void raceproof_omp_begin_meetings(struct team *team) {
    team->meetings = calloc(team->size - 1, sizeof *team->meetings);
    for (int i = 0; i < team->size - 1; i++) {
        sem_init(&team->meetings[i].arrived, 0, 0);
        sem_init(&team->meetings[i].passed, 0, 0);
    }
}

static void raceproof_omp_end_meetings(struct team *team) {
    for (int i = 0; i < team->size - 1; i++) {
        sem_destroy(&team->meetings[i].arrived);
        sem_destroy(&team->meetings[i].passed);
    }
    free(team->meetings);
}

/* Lets `count` threads execute the region of a team or league, this one among them. They are there. */
static void raceproof_omp_execute_together(struct team *team, int count) {
    struct member first;
    int before = employed;
    employed += count - 1;
    for (int i = 1; i < count; i++) {
        workers[before + i - 1]->team = team;
        workers[before + i - 1]->number = i;
        sem_post(&workers[before + i - 1]->start);
    }
    raceproof_omp_execute_region(&first, team, 0);
    for (int i = 1; i < count; i++)
        sem_wait(&workers[before + i - 1]->end);
    employed = before;
}

/* `parallel`: called instead of `__kmpc_fork_call`. A region inside as many with several threads as may be active has
   one. */
__attribute__((always_inline)) void raceproof_omp_parallel(region *code, void **arguments) {
    struct member *outer = raceproof_omp_member();
    struct task *task = raceproof_omp_task;
    struct team team;
    memset(&team, 0, sizeof team);
    team.outer = outer->team;
    team.size = outer->team->active_level >= raceproof_omp_max_levels() ? 1 : wanted ? wanted : raceproof_omp_max_threads();
    team.level = outer->team->level + 1;
    team.outer_number = outer->number;
    team.code = code;
    team.arguments = arguments;
    team.league_size = outer->team->league_size;
    team.league_number = outer->team->league_number;
    team.thread_limit = outer->team->thread_limit;
    if (team.thread_limit && team.size > team.thread_limit)
        team.size = team.thread_limit;
    team.active_level = outer->team->active_level + (team.size > 1);
    wanted = 0;
    if (team.size > 1) {
        raceproof_omp_begin_meetings(&team);
        raceproof_omp_begin_ordered(&team);
        hire(employed + team.size - 1);
    }
    raceproof_omp_execute_together(&team, team.size);
    if (team.size > 1) {
        raceproof_omp_end_meetings(&team);
        raceproof_omp_end_ordered(&team);
    }
    raceproof_omp_end_doacross(&team);
    raceproof_omp_self = outer;
    raceproof_omp_task = task;
}

/* The clauses `num_teams` and `thread_limit` of the league to come; 0: none. */
static _Thread_local int wanted_teams, wanted_limit;

void __kmpc_push_num_teams(ident *place, int number, int teams, int limit) {
    wanted_teams = teams > 0 ? teams : 0;
    wanted_limit = limit > 0 ? limit : 0;
}

void __kmpc_push_num_teams_51(ident *place, int number, int least, int most, int limit) {
    __kmpc_push_num_teams(place, number, most, limit);
}

void __kmpc_set_thread_limit(ident *place, int number, int limit) {
    wanted_limit = limit > 0 ? limit : 0;
}

/* What `omp_set_num_teams` and `omp_set_teams_thread_limit` said; 0: nothing. */
static int chosen_teams, chosen_limit;

void omp_set_num_teams(int count) {
    chosen_teams = count > 0 ? count : 0;
}

int omp_get_max_teams(void) {
    return chosen_teams;
}

void omp_set_teams_thread_limit(int count) {
    chosen_limit = count > 0 ? count : 0;
}

int omp_get_teams_thread_limit(void) {
    return chosen_limit;
}

/* Says that there are leagues, to those who read the program. */
static void raceproof_omp_begin_league(void) {
}

/* `teams`: called instead of `__kmpc_fork_teams`. Each thread is the first of a team of its own, which has one thread until
   it meets a region. */
__attribute__((always_inline)) void raceproof_omp_teams(region *code, void **arguments) {
    struct member *outer = raceproof_omp_member();
    struct task *task = raceproof_omp_task;
    struct team league;
    memset(&league, 0, sizeof league);
    league.outer = outer->team;
    league.size = 1;
    league.level = outer->team->level;
    league.active_level = outer->team->active_level;
    league.outer_number = outer->number;
    league.thread_limit = wanted_limit ? wanted_limit : chosen_limit;
    league.league_size = wanted_teams ? wanted_teams : chosen_teams ? chosen_teams : raceproof_omp_max_threads();
    league.code = code;
    league.arguments = arguments;
    wanted_teams = wanted_limit = 0;
    raceproof_omp_begin_league();
    hire(employed + league.league_size - 1);
    raceproof_omp_execute_together(&league, league.league_size);
    raceproof_omp_self = outer;
    raceproof_omp_task = task;
}

/* A region that one thread executes, since its `if` says so: the code is called by the program itself. */
struct serial {
    struct team team;
    struct member member, *outer;
    struct task *task;
};

void __kmpc_serialized_parallel(ident *place, int number) {
    struct member *outer = raceproof_omp_member();
    struct serial *serial = calloc(1, sizeof *serial);
    serial->outer = outer;
    serial->task = raceproof_omp_task;
    serial->team.outer = outer->team;
    serial->team.size = 1;
    serial->team.level = outer->team->level + 1;
    serial->team.active_level = outer->team->active_level;
    serial->team.outer_number = outer->number;
    serial->team.league_size = outer->team->league_size;
    serial->team.league_number = outer->team->league_number;
    serial->team.thread_limit = outer->team->thread_limit;
    serial->member.team = &serial->team;
    serial->member.task.member = &serial->member;
    raceproof_omp_self = &serial->member;
    raceproof_omp_task = &serial->member.task;
}

void __kmpc_end_serialized_parallel(ident *place, int number) {
    char *member = (char *)raceproof_omp_self;
    struct serial *serial = (struct serial *)(member - offsetof(struct serial, member));
    raceproof_omp_join(&serial->member.task);
    raceproof_omp_end_doacross(&serial->team);
    raceproof_omp_self = serial->outer;
    raceproof_omp_task = serial->task;
    free(serial);
}

void __kmpc_push_num_threads(ident *place, int number, int count) {
    wanted = count > 0 ? count : 1;
}

void __kmpc_push_proc_bind(ident *place, int number, int bind) {
}

void __kmpc_begin(ident *place, int flags) {
}

void __kmpc_end(ident *place) {
}

int __kmpc_ok_to_fork(ident *place) {
    return 1;
}

int __kmpc_global_thread_num(ident *place) {
    return raceproof_omp_member()->number;
}

int __kmpc_global_num_threads(ident *place) {
    return raceproof_omp_member()->team->size;
}

int __kmpc_bound_thread_num(ident *place) {
    return raceproof_omp_member()->number;
}

int __kmpc_bound_num_threads(ident *place) {
    return raceproof_omp_member()->team->size;
}

int __kmpc_in_parallel(ident *place) {
    return raceproof_omp_member()->team->active_level > 0;
}

/* The first thread waits for all others, and then lets them go on. */
static void raceproof_omp_meet(struct member *self) {
    struct team *team = self->team;
    if (self->number > 0) {
        sem_post(&team->meetings[self->number - 1].arrived);
        sem_wait(&team->meetings[self->number - 1].passed);
        return;
    }
    for (int i = 0; i < team->size - 1; i++)
        sem_wait(&team->meetings[i].arrived);
    for (int i = 0; i < team->size - 1; i++)
        sem_post(&team->meetings[i].passed);
}

/* All tasks of the team end before any thread of it goes on. */
void __kmpc_barrier(ident *place, int number) {
    struct member *self = raceproof_omp_member();
    raceproof_omp_join(raceproof_omp_task);
    raceproof_omp_meet(self);
}

/* The first thread that comes executes it. */
int __kmpc_single(ident *place, int number) {
    struct member *self = raceproof_omp_member();
    int mine = self->singles++;
    return self->team->size == 1
        || atomic_compare_exchange_strong_explicit(&self->team->singles, &mine, mine + 1, memory_order_relaxed,
                                                   memory_order_relaxed);
}

void __kmpc_end_single(ident *place, int number) {
}

void __kmpc_copyprivate(ident *place, int number, size_t size, void *data, void (*copy)(void *, void *), int executed) {
    struct team *team = raceproof_omp_member()->team;
    if (executed)
        team->copied = data;
    __kmpc_barrier(place, number);
    if (!executed)
        copy(data, team->copied);
    __kmpc_barrier(place, number);
}

int __kmpc_masked(ident *place, int number, int filter) {
    return raceproof_omp_member()->number == filter;
}

void __kmpc_end_masked(ident *place, int number) {
}

int __kmpc_master(ident *place, int number) {
    return __kmpc_masked(place, number, 0);
}

void __kmpc_end_master(ident *place, int number) {
}

void __kmpc_flush(ident *place) {
    atomic_thread_fence(memory_order_seq_cst);
}
