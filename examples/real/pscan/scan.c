#include "scan.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fatal.h"
#include "queue.h"

struct scanner {
    const struct pattern *pattern;
    const struct scan_options *options;
    struct queue queue;
    struct output output;
    size_t found; /* files so far; the walker's */
};

struct worker {
    struct scanner *scanner;
    pthread_t thread;
    char *buffer; /* content of the file that is searched */
    size_t room;
    size_t files;
};

/* Reads a whole file into the worker's buffer; false if it cannot be read. */
static bool load(struct worker *worker, const char *path, size_t *length) {
    int file = open(path, O_RDONLY);
    struct stat status;
    *length = 0;
    if (file < 0 || fstat(file, &status) != 0) {
        complain("cannot open %s", path);
        if (file >= 0)
            close(file);
        return false;
    }
    ssize_t got = 0;
    do {
        *length += (size_t)got;
        size_t wanted = *length < (size_t)status.st_size ? (size_t)status.st_size : *length + 4096;
        if (wanted > worker->room) {
            worker->room = wanted;
            worker->buffer = reallocate(worker->buffer, wanted, 1);
        }
        got = worker->room > *length ? read(file, worker->buffer + *length, worker->room - *length) : 0;
    } while (got > 0);
    close(file);
    if (got < 0)
        complain("cannot read %s", path);
    return got == 0;
}

static const char *end_of_line(const char *at, const char *end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline != NULL ? newline : end;
}

static size_t lines_between(const char *from, const char *to) {
    size_t lines = 0;
    for (; (from = memchr(from, '\n', (size_t)(to - from))) != NULL; from++)
        lines++;
    return lines;
}

/* Finds the matching lines. The search goes over line ends; a match is then put down to its line. */
static void search_content(const struct scanner *scanner, const char *path, const char *start, const char *end,
                           struct result *result) {
    const struct scan_options *options = scanner->options;
    size_t line = 1;
    const char *counted = start;
    for (const char *at = start; at < end && (at = pattern_find(scanner->pattern, at, end)) != NULL;) {
        const char *first = at, *last = end_of_line(at, end);
        while (first > start && first[-1] != '\n')
            first--;
        result->matches++;
        if (options->names_only || options->first_only)
            break;
        if (!options->count_only) {
            line += lines_between(counted, first);
            counted = first;
            if (options->line_numbers)
                text_format(&result->text, "%s:%zu:", path, line);
            else
                text_format(&result->text, "%s:", path);
            text_append(&result->text, first, (size_t)(last - first));
            text_append(&result->text, "\n", 1);
        }
        at = last + (last < end);
    }
    if (options->names_only && result->matches > 0)
        text_format(&result->text, "%s\n", path);
    if (options->count_only)
        text_format(&result->text, "%s:%zu\n", path, result->matches);
}

static struct result search_file(struct worker *worker, struct task task) {
    struct result result = {.sequence = task.sequence};
    size_t length;
    if (!load(worker, task.path, &length) ||
        (!worker->scanner->options->binary && length > 0 && memchr(worker->buffer, 0, length) != NULL)) {
        result.skipped = true;
    } else if (length > 0) {
        result.bytes = length;
        search_content(worker->scanner, task.path, worker->buffer, worker->buffer + length, &result);
    }
    return result;
}

static void *work(void *argument) {
    struct worker *worker = argument;
    struct scanner *scanner = worker->scanner;
    struct task task;
    while (queue_take(&scanner->queue, &task)) {
        struct result result = search_file(worker, task);
        free(task.path);
        worker->files++;
        if (scanner->options->first_only && result.matches > 0)
            queue_cancel(&scanner->queue);
        output_add(&scanner->output, result);
    }
    free(worker->buffer);
    return NULL;
}

static bool found_file(void *context, char *path) {
    struct scanner *scanner = context;
    struct task task = {.path = path, .sequence = scanner->found++};
    bool wanted = queue_put(&scanner->queue, task);
    if (!wanted)
        free(path);
    return wanted;
}

struct scan_statistics scan(const struct pattern *pattern, char **paths, size_t count,
                            const struct scan_options *options, FILE *to) {
    struct scanner scanner = {.pattern = pattern, .options = options};
    struct worker *workers = allocate(options->workers, sizeof *workers);
    queue_init(&scanner.queue, options->queue_room);
    output_init(&scanner.output, to, options->ordered);
    for (unsigned i = 0; i < options->workers; i++)
        workers[i] = (struct worker){.scanner = &scanner};
    for (unsigned i = 0; i < options->workers; i++)
        must(pthread_create(&workers[i].thread, NULL, work, &workers[i]), "pthread_create");
    bool go_on = true;
    for (size_t i = 0; i < count && go_on; i++)
        go_on = walk(paths[i], &options->walk, found_file, &scanner);
    queue_close(&scanner.queue);

    struct scan_statistics statistics = {.fewest = (size_t)-1};
    for (unsigned i = 0; i < options->workers; i++) {
        must(pthread_join(workers[i].thread, NULL), "pthread_join");
        if (statistics.fewest > workers[i].files)
            statistics.fewest = workers[i].files;
        if (statistics.most < workers[i].files)
            statistics.most = workers[i].files;
    }
    statistics.totals = output_finish(&scanner.output);
    statistics.most_queued = scanner.queue.most;
    queue_destroy(&scanner.queue);
    free(workers);
    return statistics;
}
