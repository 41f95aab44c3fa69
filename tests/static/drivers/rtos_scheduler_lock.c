// A lock specification of one's own: functions without an argument that are a lock themselves.
// raceproof static --entry task_high,task_low --locks rtos.toml
#include "rtos.h"

static int switches, ready[2];

void task_high(void) {
    os_scheduler_stop();
    switches++; // RACE!
    ready[0] = 1; // NORACE
    os_scheduler_go();
}

void task_low(void) {
    os_scheduler_stop();
    ready[0] = 0; // NORACE
    ready[1] = 1; // NORACE
    os_scheduler_go();
#ifdef RACY
    switches--; // RACE!
#endif
}

#ifdef MODEL
THREADS(task_high(), task_low())
#endif
