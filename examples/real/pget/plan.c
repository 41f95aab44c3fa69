#include "plan.h"

#include <stdlib.h>

#include "fatal.h"

void plan_init(struct plan *plan, size_t length, size_t segment_length, unsigned retries) {
    size_t count = (length + segment_length - 1) / segment_length;
    *plan = (struct plan){.count = count, .retries = retries};
    plan->segments = allocate(count, sizeof *plan->segments);
    for (size_t i = 0; i < count; i++) {
        size_t first = i * segment_length, rest = length - first;
        plan->segments[i] = (struct segment){.first = first, .length = rest < segment_length ? rest : segment_length};
    }
    must(pthread_mutex_init(&plan->lock, NULL), "pthread_mutex_init");
    must(pthread_cond_init(&plan->completed, NULL), "pthread_cond_init");
}

void plan_destroy(struct plan *plan) {
    pthread_cond_destroy(&plan->completed);
    pthread_mutex_destroy(&plan->lock);
    free(plan->segments);
}

struct segment *plan_take(struct plan *plan) {
    struct segment *found = NULL;
    must(pthread_mutex_lock(&plan->lock), "pthread_mutex_lock");
    for (size_t i = 0; i < plan->count && found == NULL && !plan->failed; i++)
        if (plan->segments[i].state == SEGMENT_WAITING)
            found = &plan->segments[i];
    if (found != NULL)
        found->state = SEGMENT_FETCHING;
    pthread_mutex_unlock(&plan->lock);
    return found;
}

void plan_progress(struct plan *plan, size_t more) {
#if BUG == 2
    /* The twin's mistake: the progress is "only for display". */
    plan->received += more;
#else
    must(pthread_mutex_lock(&plan->lock), "pthread_mutex_lock");
    plan->received += more;
    pthread_mutex_unlock(&plan->lock);
#endif
}

void plan_complete(struct plan *plan, struct segment *segment) {
    must(pthread_mutex_lock(&plan->lock), "pthread_mutex_lock");
    segment->state = SEGMENT_COMPLETE;
    pthread_cond_signal(&plan->completed);
    pthread_mutex_unlock(&plan->lock);
}

void plan_fail(struct plan *plan, struct segment *segment) {
    must(pthread_mutex_lock(&plan->lock), "pthread_mutex_lock");
    segment->state = SEGMENT_WAITING;
    if (++segment->failures > plan->retries) {
        plan->failed = true;
        pthread_cond_signal(&plan->completed);
    }
    pthread_mutex_unlock(&plan->lock);
}

bool plan_wait(struct plan *plan, size_t index, size_t *received) {
    must(pthread_mutex_lock(&plan->lock), "pthread_mutex_lock");
    while (plan->segments[index].state != SEGMENT_COMPLETE && !plan->failed)
        pthread_cond_wait(&plan->completed, &plan->lock);
    bool complete = plan->segments[index].state == SEGMENT_COMPLETE;
    *received = plan->received;
    pthread_mutex_unlock(&plan->lock);
    return complete;
}
