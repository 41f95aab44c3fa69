#include "quicksort.h"

#include <pthread.h>
#include <stdlib.h>

#include "fatal.h"
#include "ranges.h"

/* What all workers share; only the stack changes, and the records of ranges that are not on it. */
struct job {
    struct record *records;
    const struct order *order;
    size_t cutoff;
    struct ranges ranges;
};

/* One thread and what it alone counts. */
struct worker {
    struct job *job;
    pthread_t thread;
    struct quicksort_statistics statistics;
};

static void swap(struct record *a, struct record *b) {
    struct record old = *a;
    *a = *b;
    *b = old;
}

static void insertion_sort(const struct order *order, struct record *records, size_t count) {
    for (size_t i = 1; i < count; i++) {
        struct record moving = records[i];
        size_t to = i;
        for (; to > 0 && record_compare(order, &moving, &records[to - 1]) < 0; to--)
            records[to] = records[to - 1];
        records[to] = moving;
    }
}

static void sift_down(const struct order *order, struct record *records, size_t root, size_t count) {
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && record_compare(order, &records[child], &records[child + 1]) < 0)
            child++;
        if (record_compare(order, &records[root], &records[child]) >= 0)
            return;
        swap(&records[root], &records[child]);
    }
}

/* For inputs on which the pivots are bad again and again. */
static void heap_sort(const struct order *order, struct record *records, size_t count) {
    for (size_t root = count / 2; root-- > 0;)
        sift_down(order, records, root, count);
    for (size_t last = count; last-- > 1;) {
        swap(&records[0], &records[last]);
        sift_down(order, records, 0, last);
    }
}

/* Puts the median of the first, middle and last record first. */
static void choose_pivot(const struct order *order, struct record *records, size_t count) {
    struct record *low = &records[1], *middle = &records[count / 2], *high = &records[count - 1];
    if (record_compare(order, low, middle) > 0)
        swap(low, middle);
    if (record_compare(order, middle, high) > 0) {
        swap(middle, high);
        if (record_compare(order, low, middle) > 0)
            swap(low, middle);
    }
    swap(&records[0], middle);
}

/* Splits records around the first: smaller ones come before the returned position, larger ones behind it. The pivot is
 * still in front; it belongs at that position. */
static size_t split(const struct order *order, struct record *records, size_t count) {
    size_t left = 0, right = count;
    for (;;) {
        do
            left++;
        while (left < count && record_compare(order, &records[left], &records[0]) < 0);
        do
            right--;
        while (record_compare(order, &records[right], &records[0]) > 0);
        if (left >= right)
            return right;
        swap(&records[left], &records[right]);
    }
}

static size_t length(struct range range) {
    return range.end - range.first;
}

/* Splits a range, hands the larger part to whoever is free and goes on with the smaller. */
static struct range divide(struct worker *worker, struct range range) {
    struct job *job = worker->job;
    struct record *records = job->records + range.first;
    choose_pivot(job->order, records, length(range));
    size_t pivot = split(job->order, records, length(range));
    worker->statistics.partitions++;
#if BUG != 1
    swap(&records[0], &records[pivot]);
#endif
    unsigned depth = range.depth - 1;
    struct range lower = {range.first, range.first + pivot, depth};
    struct range upper = {range.first + pivot + 1, range.end, depth};
    struct range larger = length(lower) > length(upper) ? lower : upper;
    struct range smaller = length(lower) > length(upper) ? upper : lower;
    if (length(larger) > 1)
        ranges_push(&job->ranges, larger);
#if BUG == 1
    /* The twin's mistake: the larger part is handed out before the pivot is in its place. If that is the lower part,
     * somebody else is already sorting it. */
    swap(&records[0], &records[pivot]);
#endif
    return smaller;
}

static void sort_range(struct worker *worker, struct range range) {
    struct job *job = worker->job;
    while (length(range) > job->cutoff && length(range) > 2 && range.depth > 0)
        range = divide(worker, range);
    struct record *records = job->records + range.first;
    if (length(range) > job->cutoff && length(range) > 2) {
        heap_sort(job->order, records, length(range));
        worker->statistics.heapsorts++;
    } else {
        insertion_sort(job->order, records, length(range));
        worker->statistics.insertions++;
    }
}

static void *work(void *argument) {
    struct worker *worker = argument;
    struct range range;
    while (ranges_take(&worker->job->ranges, &range)) {
        worker->statistics.ranges++;
        sort_range(worker, range);
        ranges_finished(&worker->job->ranges);
    }
    return NULL;
}

static void add(struct quicksort_statistics *to, const struct quicksort_statistics *from) {
    to->ranges += from->ranges;
    to->partitions += from->partitions;
    to->insertions += from->insertions;
    to->heapsorts += from->heapsorts;
}

/* Twice the logarithm: more splits than that are a sign of bad pivots. */
static unsigned allowed_depth(size_t count) {
    unsigned depth = 2;
    while (count > 1) {
        depth += 2;
        count /= 2;
    }
    return depth;
}

void quicksort(struct record *records, size_t count, const struct order *order,
               const struct quicksort_options *options, struct quicksort_statistics *statistics) {
    struct job job = {.records = records, .order = order, .cutoff = options->cutoff};
    struct worker *workers = allocate(options->threads, sizeof *workers);
    ranges_init(&job.ranges);
    ranges_push(&job.ranges, (struct range){0, count, allowed_depth(count)});
    for (unsigned i = 0; i < options->threads; i++)
        workers[i] = (struct worker){.job = &job};
    for (unsigned i = 1; i < options->threads; i++)
        must(pthread_create(&workers[i].thread, NULL, work, &workers[i]), "pthread_create");
    work(&workers[0]);
    for (unsigned i = 1; i < options->threads; i++)
        must(pthread_join(workers[i].thread, NULL), "pthread_join");
    *statistics = (struct quicksort_statistics){.most_waiting = job.ranges.most};
    for (unsigned i = 0; i < options->threads; i++)
        add(statistics, &workers[i].statistics);
    ranges_destroy(&job.ranges);
    free(workers);
}
