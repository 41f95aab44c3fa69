#include "output.h"

#include <stdlib.h>

#include "fatal.h"

struct waiting {
    struct waiting *next;
    struct result result;
};

void output_init(struct output *output, FILE *to, bool ordered) {
    *output = (struct output){.to = to, .ordered = ordered};
    must(pthread_mutex_init(&output->lock, NULL), "pthread_mutex_init");
}

static void print(struct output *output, struct result *result) {
    fwrite(result->text.bytes, 1, result->text.length, output->to);
    text_free(&result->text);
}

static void keep(struct output *output, struct result result) {
    struct waiting *entry = allocate(1, sizeof *entry);
    struct waiting **place = &output->waiting;
    while (*place != NULL && (*place)->result.sequence < result.sequence)
        place = &(*place)->next;
    *entry = (struct waiting){.next = *place, .result = result};
    *place = entry;
}

static void print_first(struct output *output) {
    struct waiting *first = output->waiting;
    output->waiting = first->next;
    output->next = first->result.sequence + 1;
    print(output, &first->result);
    free(first);
}

static void count(struct totals *totals, const struct result *result) {
    totals->files++;
    totals->skipped += result->skipped;
    totals->matching += result->matches > 0;
    totals->matches += result->matches;
    totals->bytes += result->bytes;
}

void output_add(struct output *output, struct result result) {
#if BUG == 1
    /* The twin's mistake: counting was put in front of the lock, to hold it for a shorter time. */
    count(&output->totals, &result);
#endif
    must(pthread_mutex_lock(&output->lock), "pthread_mutex_lock");
#if BUG != 1
    count(&output->totals, &result);
#endif
    if (output->ordered) {
        keep(output, result);
        while (output->waiting != NULL && output->waiting->result.sequence == output->next)
            print_first(output);
    } else {
        print(output, &result);
    }
    pthread_mutex_unlock(&output->lock);
}

struct totals output_finish(struct output *output) {
    while (output->waiting != NULL)
        print_first(output);
    fflush(output->to);
    pthread_mutex_destroy(&output->lock);
    return output->totals;
}
