/* psort: sorts lines of text with several threads. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "fatal.h"
#include "lines.h"
#include "numbers.h"
#include "quicksort.h"

static const char usage[] =
    "usage: psort [options] [file...]\n"
    "Sorts the lines of the files, or of standard input.\n"
    "  -t N     threads (4)\n"
    "  -c N     sort ranges up to N lines by insertion (16)\n"
    "  -k N     the key is the N-th word of the line, not the whole line\n"
    "  -n       the key is a whole number\n"
    "  -g       the key is a number with a fraction\n"
    "  -l       the key is the length\n"
    "  -f       do not tell upper from lower case\n"
    "  -r       largest first\n"
    "  -u       print only the first of lines with equal keys\n"
    "  -o FILE  write there\n"
    "  -V       verify the result\n"
    "  -s       tell on standard error what was done\n";

struct options {
    struct order order;
    struct quicksort_options sorting;
    bool unique, verify, statistics;
    const char *output;
};

static struct options parse(int count, char **arguments) {
    struct options options = {.sorting = {.threads = 4, .cutoff = 16}};
    int option;
    while ((option = getopt(count, arguments, "t:c:k:ngflruo:Vsh")) != -1) {
        switch (option) {
        case 't':
            options.sorting.threads = (unsigned)number_between(optarg, "-t", 1, 256);
            break;
        case 'c':
            options.sorting.cutoff = (size_t)number_between(optarg, "-c", 1, 1 << 20);
            break;
        case 'k':
            options.order.field = (unsigned)number_between(optarg, "-k", 1, 1000);
            break;
        case 'n':
            options.order.kind = KEY_INTEGER;
            break;
        case 'g':
            options.order.kind = KEY_REAL;
            break;
        case 'l':
            options.order.kind = KEY_LENGTH;
            break;
        case 'f':
            options.order.fold_case = true;
            break;
        case 'r':
            options.order.reverse = true;
            break;
        case 'u':
            options.unique = true;
            break;
        case 'o':
            options.output = optarg;
            break;
        case 'V':
            options.verify = true;
            break;
        case 's':
            options.statistics = true;
            break;
        default:
            fputs(usage, option == 'h' ? stdout : stderr);
            exit(option == 'h' ? 0 : 2);
        }
    }
    return options;
}

/* The lines' hashes added up: the same for every order of the same lines. */
static uint64_t fingerprint(const struct lines *lines) {
    uint64_t sum = 0;
    for (size_t i = 0; i < lines->count; i++)
        sum += record_hash(&lines->records[i]);
    return sum;
}

static void verify(const struct lines *lines, const struct order *order, uint64_t before) {
    for (size_t i = 1; i < lines->count; i++)
        if (record_compare(order, &lines->records[i - 1], &lines->records[i]) >= 0)
            fatal("lines %zu and %zu of the result are in the wrong order", i, i + 1);
    if (fingerprint(lines) != before)
        fatal("the result has other lines than the input");
}

static void write_result(const struct options *options, const struct lines *lines) {
    FILE *to = stdout;
    if (options->output != NULL && (to = fopen(options->output, "w")) == NULL)
        fatal_errno("%s", options->output);
    lines_write(lines, &options->order, options->unique, to);
    if (fflush(to) != 0 || ferror(to))
        fatal_errno("%s", options->output != NULL ? options->output : "standard output");
    if (to != stdout)
        fclose(to);
}

int main(int count, char **arguments) {
    program_name = "psort";
    struct options options = parse(count, arguments);
    struct lines lines = {0};
    if (optind == count)
        lines_read(&lines, "-");
    for (int i = optind; i < count; i++)
        lines_read(&lines, arguments[i]);
    lines_split(&lines, &options.order);
    uint64_t before = fingerprint(&lines);
    struct quicksort_statistics done;
    quicksort(lines.records, lines.count, &options.order, &options.sorting, &done);
    if (options.verify)
        verify(&lines, &options.order, before);
    write_result(&options, &lines);
    if (options.statistics)
        fprintf(stderr, "psort: %zu lines, %zu ranges (%zu waiting at most), %zu splits, %zu insertion sorts, %zu heap sorts\n",
                lines.count, done.ranges, done.most_waiting, done.partitions, done.insertions, done.heapsorts);
    lines_free(&lines);
    return 0;
}
