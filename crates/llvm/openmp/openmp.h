/* OpenMP's runtime library as an ordinary pthread program: teams, their threads, tasks.
 *
 * What clang makes of `#pragma omp` calls the functions here. They are compiled with the program under test and checked
 * like the rest of it, so that every engine sees threads, semaphores, mutexes and barriers it knows. Two rules:
 *
 * - An edge of happens-before exists here exactly where OpenMP promises one. What only chooses (who executes a `single`,
 *   who gets the next chunk) is a relaxed atomic.
 * - Nothing waits longer than OpenMP demands: a `taskwait` for children, not for their children. */
#ifndef RACEPROOF_OPENMP_H
#define RACEPROOF_OPENMP_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ident ident;
struct task;
struct team;
struct group;
struct explicit;
/* The code of a region, with what it is given. */
typedef void region(void **arguments, int *number, int *bound);

/* A loop whose iterations are handed out: one of these serves every `LOOPS`-th loop of a region. */
struct ticket {
    /* In the upper half the round, in the lower the next chunk nobody has: `dynamic` and `guided`. */
    _Atomic uint64_t next;
    /* The same of the iteration whose `ordered` part comes next, where there are too many for `team.turns`. */
    _Atomic uint64_t turn;
};

/* How many loops of a region the fastest thread may be ahead of the slowest. */
enum { LOOPS = 64 };
/* The same of loops with `ordered` parts, and how many iterations of each have a semaphore. */
enum { ORDERED_LOOPS = 8, ORDERED_ITERATIONS = 128 };

/* How the first thread of a team and another one meet at a barrier. Each semaphore has one thread that posts and one that
   waits, and is 0 or 1: there is one order in which a barrier is passed, however many threads arrive. */
struct meeting {
    sem_t arrived, passed;
};

/* A team of threads and the region they execute. Written by the thread that meets the region, before it starts. */
struct team {
    struct team *outer;
    /* The number that the thread of the outer team has there. */
    int outer_number;
    int size;
    /* How many regions this one is in, and how many of those have more than one thread. */
    int level, active_level;
    region *code;
    void **arguments;
    /* One for each thread but the first. */
    struct meeting *meetings;
    /* Of loops with `ordered` parts: posted when the iteration's turn comes. */
    sem_t *turns;
    /* The league that the team is part of: how many teams that has, and which of them this is. */
    int league_size, league_number;
    /* Most threads that its regions have; 0: any number. */
    int thread_limit;
    /* The construct that threads are to leave, by clang's number; 0: none. */
    _Atomic int cancelled;
    /* Loops of `LOOPS` that wait for iterations named by the program, see `doacross.c`. */
    struct doacross *_Atomic doacross[LOOPS];
    /* How many `single` have found their thread. */
    _Atomic int singles;
    /* Where the thread that executed a `single` keeps what it copies to the others. */
    void *copied;
    struct ticket loops[LOOPS];
};

/* The loop that a thread is in. */
struct loop {
    struct ticket *ticket;
    uint64_t round;
    int schedule, ordered;
    /* The semaphores of its iterations' turns; `NULL` if it has too many. */
    sem_t *turns;
    uint64_t lower, step, count, chunk;
    /* How many chunks of a static schedule this thread has had. */
    uint64_t taken;
    /* The iteration it executes, and whether that has passed its `ordered` part. */
    uint64_t iteration;
    int passed;
};

/* A task. Implicit ones are the code of a region as one thread executes it; explicit ones have a thread of their own:
   tasks run at the same time as whatever is not ordered with them, whichever thread of the team would execute them. */
struct task {
    /* Who executes it, or met it. */
    struct member *member;
    /* The task that made it; `NULL` for implicit ones. */
    struct task *parent;
    /* Undeferred tasks it made that are over and whose children are not. */
    struct explicit *finished;
    /* What it and the tasks that it joined contribute to reductions. */
    struct copy *copies;
    /* Tasks it made whose threads have not been joined, newest first. */
    struct explicit *children;
    /* What its children did with memory named by `depend`. */
    struct dependence *dependences;
    /* The innermost `taskgroup` it is in now. */
    struct group *group;
    int final;
};

/* A thread as a member of a team. */
struct member {
    struct team *team;
    int number;
    int singles;
    uint64_t loops;
    /* Loops with `ordered` parts, and `doacross` loops, that it came to. */
    uint64_t ordered_loops, doacross_loops;
    struct doacross *doacross;
    struct loop loop;
    struct task task;
};

/* The thread's membership and task. Outside of regions a thread is alone in a team. */
extern _Thread_local struct member *raceproof_omp_self;
extern _Thread_local struct task *raceproof_omp_task;

struct member *raceproof_omp_member(void);

/* Hooks: what a program needs only if it uses something. Where it does not, calls of these are removed (`openmp.rs`). */

/* Waits for the threads of all tasks that the task made, and of those they made. */
void raceproof_omp_join(struct task *task);
/* Makes and destroys what a team needs for loops with `ordered` parts. */
void raceproof_omp_begin_ordered(struct team *team);
void raceproof_omp_end_ordered(struct team *team);
/* Frees what a team needed for `doacross` loops. */
void raceproof_omp_end_doacross(struct team *team);
/* Frees what a task knows of the memory that its children named by `depend`. */
void raceproof_omp_forget_dependences(struct task *task);
/* Reductions of tasks, see `task_reduction.c`. */
void raceproof_omp_hand_up(struct task *task, struct task *to);
void raceproof_omp_reduce(struct group *group, struct task *task);
int raceproof_omp_group_is_cancelled(struct task *task);
void raceproof_omp_cancel_group(struct task *task);
/* Whether the construct was cancelled that the team is in: clang's number of it. */
int raceproof_omp_is_cancelled(struct team *team, int construct);

/* The runtime's: the program does what is not supported. Never returns; no failure of the program. */
__attribute__((noreturn)) void __rp_refuse(const char *what);
/* How many regions with several threads may be inside of each other. */
int raceproof_omp_max_levels(void);
int raceproof_omp_max_threads(void);

#endif
