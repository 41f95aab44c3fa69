/* What a program may ask and say about its execution environment. */
#include <time.h>

#include "openmp.h"

int omp_get_thread_num(void) {
    return raceproof_omp_member()->number;
}

int omp_get_num_threads(void) {
    return raceproof_omp_member()->team->size;
}

int omp_get_max_threads(void) {
    return raceproof_omp_max_threads();
}

int omp_get_num_procs(void) {
    return raceproof_omp_max_threads();
}

int omp_get_thread_limit(void) {
    return 1 << 16;
}

int omp_in_parallel(void) {
    return raceproof_omp_member()->team->active_level > 0;
}

int omp_in_final(void) {
    raceproof_omp_member();
    return raceproof_omp_task->final;
}

int omp_get_level(void) {
    return raceproof_omp_member()->team->level;
}

int omp_get_active_level(void) {
    return raceproof_omp_member()->team->active_level;
}

/* The team around this one that is at `level`, and this thread's number in it. */
static struct team *around(int level, int *number) {
    struct member *self = raceproof_omp_member();
    struct team *team = self->team;
    *number = self->number;
    if (level < 0 || level > team->level)
        return NULL;
    for (; team->level > level; team = team->outer)
        *number = team->outer_number;
    return team;
}

int omp_get_ancestor_thread_num(int level) {
    int number;
    return around(level, &number) ? number : -1;
}

int omp_get_team_size(int level) {
    int number;
    struct team *team = around(level, &number);
    return team ? team->size : -1;
}

/* Teams have the size they ask for, and regions inside of regions have one thread: nothing to set. */
void omp_set_dynamic(int on) {
}

int omp_get_dynamic(void) {
    return 0;
}

void omp_set_nested(int on) {
    if (on)
        raceproof_omp_fail("nested parallel regions with several threads are not supported");
}

int omp_get_nested(void) {
    return 0;
}

void omp_set_max_active_levels(int levels) {
    if (levels > 1)
        raceproof_omp_fail("nested parallel regions with several threads are not supported");
}

int omp_get_max_active_levels(void) {
    return 1;
}

int omp_get_supported_active_levels(void) {
    return 1;
}

int omp_get_cancellation(void) {
    return 0;
}

int omp_get_proc_bind(void) {
    return 0;
}

int omp_get_num_teams(void) {
    return 1;
}

int omp_get_team_num(void) {
    return 0;
}

int omp_get_num_devices(void) {
    return 0;
}

int omp_get_default_device(void) {
    return 0;
}

void omp_set_default_device(int device) {
}

int omp_is_initial_device(void) {
    return 1;
}

int omp_get_initial_device(void) {
    return 0;
}

int omp_get_max_task_priority(void) {
    return 0;
}

double omp_get_wtime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

double omp_get_wtick(void) {
    return 1e-9;
}
