// A lock specification of one's own: a mutex with unusual names.
// raceproof static --entry control_task,timer_callback --locks rtos.toml
#include "rtos.h"

static struct os_mutex lock = OS_MUTEX;
static int setpoint, measured, error_sum;

int control_task(int wanted) {
    os_mutex_take(&lock);
    setpoint = wanted; // NORACE
    int difference = setpoint - measured; // RACE!
    error_sum += difference; // NORACE
    os_mutex_give(&lock);
    return difference;
}

void timer_callback(int sample) {
#ifdef RACY
    measured = sample; // RACE!
#else
    os_mutex_take(&lock);
    measured = sample; // NORACE
    os_mutex_give(&lock);
#endif
}

#ifdef MODEL
THREADS(control_task(5), timer_callback(3))
#endif
