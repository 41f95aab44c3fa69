// RCU: a read-side section excludes nobody, so counting inside it is a race.
// raceproof static --entry flow_hit,flow_report --locks linux
#include "kernel.h"

static DEFINE_SPINLOCK(stats_lock);
static long hits;

void flow_hit(void) {
    rcu_read_lock();
#ifdef RACY
    hits++; // RACE!
#else
    spin_lock(&stats_lock);
    hits++; // NORACE
    spin_unlock(&stats_lock);
#endif
    rcu_read_unlock();
}

long flow_report(void) {
    spin_lock(&stats_lock);
    long n = hits; // RACE!
    spin_unlock(&stats_lock);
    return n;
}

#ifdef MODEL
THREADS(flow_hit(), flow_report())
#endif
