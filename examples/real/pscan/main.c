/* pscan: looks for a text in many files with several threads. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "fatal.h"
#include "numbers.h"
#include "scan.h"

static const char usage[] =
    "usage: pscan [options] text [path...]\n"
    "Prints the lines of files that contain the text; directories are searched with all below them.\n"
    "Status: 0 found, 1 not found, 2 trouble.\n"
    "  -t N    threads that search (2); one more looks for files\n"
    "  -Q N    files that may wait to be searched (64)\n"
    "  -o      print in the order in which files are found, not as they are done\n"
    "  -q      print nothing and stop at the first match\n"
    "  -c      print how many lines match in each file\n"
    "  -l      print only the names of files that match\n"
    "  -n      print line numbers\n"
    "  -i      do not tell upper from lower case\n"
    "  -w      find whole words only\n"
    "  -a      search hidden and binary files, too\n"
    "  -e END  only files whose names end so; may be repeated\n"
    "  -d N    go down at most N directories (64)\n"
    "  -s      tell on standard error what was done\n";

struct options {
    struct scan_options scan;
    bool fold_case, whole_words, statistics;
};

static void misuse(void) {
    fputs(usage, stderr);
    exit(2);
}

static void add_ending(struct walk_options *walk, const char *ending) {
    walk->endings = reallocate(walk->endings, walk->ending_count + 1, sizeof *walk->endings);
    walk->endings[walk->ending_count++] = ending;
}

static struct options parse(int count, char **arguments) {
    struct options options = {.scan = {.workers = 2, .queue_room = 64, .walk = {.depth = 64}}};
    struct scan_options *scan = &options.scan;
    int option;
    while ((option = getopt(count, arguments, "t:Q:oqclniwae:d:sh")) != -1) {
        switch (option) {
        case 't':
            scan->workers = (unsigned)number_between(optarg, "-t", 1, 256);
            break;
        case 'Q':
            scan->queue_room = (size_t)number_between(optarg, "-Q", 1, 1 << 16);
            break;
        case 'o':
            scan->ordered = true;
            break;
        case 'q':
            scan->first_only = true;
            break;
        case 'c':
            scan->count_only = true;
            break;
        case 'l':
            scan->names_only = true;
            break;
        case 'n':
            scan->line_numbers = true;
            break;
        case 'i':
            options.fold_case = true;
            break;
        case 'w':
            options.whole_words = true;
            break;
        case 'a':
            scan->binary = scan->walk.hidden = true;
            break;
        case 'e':
            add_ending(&scan->walk, optarg);
            break;
        case 'd':
            scan->walk.depth = (unsigned)number_between(optarg, "-d", 0, 1000);
            break;
        case 's':
            options.statistics = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            misuse();
        }
    }
    if (optind == count)
        misuse();
    return options;
}

int main(int count, char **arguments) {
    static char here[] = ".";
    char *default_path[] = {here};
    program_name = "pscan";
    struct options options = parse(count, arguments);
    struct pattern pattern;
    pattern_compile(&pattern, arguments[optind], options.fold_case, options.whole_words);
    char **paths = arguments + optind + 1;
    size_t path_count = (size_t)(count - optind - 1);
    if (path_count == 0) {
        paths = default_path;
        path_count = 1;
    }
    struct scan_statistics done = scan(&pattern, paths, path_count, &options.scan, stdout);
    if (options.statistics)
        fprintf(stderr,
                "pscan: %zu files (%zu skipped), %zu bytes, %zu matches in %zu files; %zu queued at most, %zu to %zu "
                "files by each worker\n",
                done.totals.files, done.totals.skipped, done.totals.bytes, done.totals.matches, done.totals.matching,
                done.most_queued, done.fewest, done.most);
    pattern_free(&pattern);
    free(options.scan.walk.endings);
    return done.totals.matches > 0 ? 0 : 1;
}
