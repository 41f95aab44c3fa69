/* What a program may ask and say about its execution environment. */
#include <stdlib.h>
#include <string.h>
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

/* Teams have the size they ask for: nothing to set. */
void omp_set_dynamic(int on) {
}

int omp_get_dynamic(void) {
    return 0;
}

/* One more than what `omp_set_max_active_levels` or `omp_set_nested` said; 0: nothing. It is the program's, not a
   thread's. */
static int max_levels;

enum { SUPPORTED_LEVELS = 8 };

void omp_set_max_active_levels(int levels) {
    if (levels >= 0)
        max_levels = (levels < SUPPORTED_LEVELS ? levels : SUPPORTED_LEVELS) + 1;
}

void omp_set_nested(int on) {
    omp_set_max_active_levels(on ? SUPPORTED_LEVELS : 1);
}

/* What the environment says where the program says nothing. */
static int levels_of_environment(void) {
    const char *named = getenv("OMP_MAX_ACTIVE_LEVELS");
    if (named && atoi(named) > 0)
        return atoi(named);
    const char *nested = getenv("OMP_NESTED");
    return nested && (strcmp(nested, "true") == 0 || strcmp(nested, "TRUE") == 0) ? SUPPORTED_LEVELS : 1;
}

int raceproof_omp_max_levels(void) {
    return max_levels ? max_levels - 1 : levels_of_environment();
}

int omp_get_max_active_levels(void) {
    return raceproof_omp_max_levels();
}

int omp_get_nested(void) {
    return raceproof_omp_max_levels() > 1;
}

int omp_get_supported_active_levels(void) {
    return SUPPORTED_LEVELS;
}

int omp_get_proc_bind(void) {
    return 0;
}

int omp_get_num_teams(void) {
    int teams = raceproof_omp_member()->team->league_size;
    return teams ? teams : 1;
}

int omp_get_team_num(void) {
    return raceproof_omp_member()->team->league_number;
}

/* Nothing is known about places. */
int omp_get_num_places(void) {
    return 0;
}

int omp_get_place_num(void) {
    return -1;
}

int omp_get_place_num_procs(int place) {
    return 0;
}

void omp_get_place_proc_ids(int place, int *ids) {
}

int omp_get_partition_num_places(void) {
    return 0;
}

void omp_get_partition_place_nums(int *places) {
}

int omp_control_tool(int command, int modifier, void *argument) {
    return -2;
}

int omp_pause_resource(int kind, int device) {
    return 0;
}

int omp_pause_resource_all(int kind) {
    return 0;
}

void omp_display_env(int verbose) {
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
