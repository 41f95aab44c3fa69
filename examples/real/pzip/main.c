/* pzip: packs a file block by block with several threads. */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crc32.h"
#include "fatal.h"
#include "numbers.h"
#include "pipeline.h"

static const char usage[] =
    "usage: pzip [options] input output\n"
    "Packs the input; `-` is standard input or standard output.\n"
    "  -d      unpack\n"
    "  -T      unpack without writing, to see whether the file is whole; no output is given\n"
    "  -1, -2  faster, or smaller (2)\n"
    "  -b N    bytes in a block (64k)\n"
    "  -t N    threads that pack or unpack (2); one more reads, one more writes\n"
    "  -q N    blocks under way at once (twice the threads)\n"
    "  -c      unpack every packed block at once and compare\n"
    "  -v      tell on standard error what was done\n";

struct options {
    struct pipeline_options pipeline;
    bool test, verbose;
    const char *input, *output;
};

static void misuse(void) {
    fputs(usage, stderr);
    exit(2);
}

static struct options parse(int count, char **arguments) {
    struct options options = {.pipeline = {.level = 2, .block_size = 64 * 1024, .workers = 2}};
    int option;
    while ((option = getopt(count, arguments, "dT12b:t:q:cvh")) != -1) {
        switch (option) {
        case 'd':
            options.pipeline.unpack = true;
            break;
        case 'T':
            options.pipeline.unpack = options.test = true;
            break;
        case '1':
        case '2':
            options.pipeline.level = option - '0';
            break;
        case 'b':
            options.pipeline.block_size = (size_t)number_between(optarg, "-b", 1, 1L << 24);
            break;
        case 't':
            options.pipeline.workers = (unsigned)number_between(optarg, "-t", 1, 256);
            break;
        case 'q':
            options.pipeline.blocks = (size_t)number_between(optarg, "-q", 1, 4096);
            break;
        case 'c':
            options.pipeline.self_check = true;
            break;
        case 'v':
            options.verbose = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            misuse();
        }
    }
    if (count - optind != (options.test ? 1 : 2))
        misuse();
    options.input = arguments[optind];
    options.output = options.test ? NULL : arguments[optind + 1];
    if (options.pipeline.blocks == 0)
        options.pipeline.blocks = 2 * options.pipeline.workers;
    return options;
}

static int open_input(const char *path) {
    int file = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY);
    if (file < 0)
        fatal_errno("%s", path);
    return file;
}

static int open_output(const char *path) {
    if (path == NULL)
        return -1;
    int file = strcmp(path, "-") == 0 ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0)
        fatal_errno("%s", path);
    return file;
}

int main(int count, char **arguments) {
    program_name = "pzip";
    struct options options = parse(count, arguments);
    crc32_prepare();
    int from = open_input(options.input), to = open_output(options.output);
    struct pipeline_totals totals = pipeline_run(from, to, &options.pipeline);
    if (to >= 0 && close(to) != 0)
        fatal_errno("%s", options.output);
    close(from);
    if (options.verbose)
        fprintf(stderr, "pzip: %zu blocks, %llu bytes unpacked, %llu packed\n", totals.blocks,
                (unsigned long long)totals.raw, (unsigned long long)totals.packed);
    return 0;
}
