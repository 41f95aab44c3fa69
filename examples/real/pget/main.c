/* pget: serves a file on the loopback network and downloads it again, in segments, with several threads. */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crc32.h"
#include "download.h"
#include "fatal.h"
#include "numbers.h"
#include "server.h"

static const char usage[] =
    "usage: pget [options] input output\n"
    "Serves the input by HTTP on a free port of this machine and downloads it to the output.\n"
    "  -t N  threads that download (4)\n"
    "  -S N  threads that serve (4)\n"
    "  -s N  bytes in a segment (64k)\n"
    "  -f N  the server cuts off every N-th answer (never)\n"
    "  -r N  how often a segment is tried again (8)\n"
    "  -p    tell on standard error how far it is\n"
    "  -v    tell on standard error what was done\n";

struct options {
    struct download_options download;
    unsigned server_threads, flaky;
    bool verbose;
    const char *input, *output;
};

static struct options parse(int count, char **arguments) {
    struct options options = {.download = {.threads = 4, .segment_length = 64 * 1024, .retries = 8},
                              .server_threads = 4};
    int option;
    while ((option = getopt(count, arguments, "t:S:s:f:r:pvh")) != -1) {
        switch (option) {
        case 't':
            options.download.threads = (unsigned)number_between(optarg, "-t", 1, 64);
            break;
        case 'S':
            options.server_threads = (unsigned)number_between(optarg, "-S", 1, 64);
            break;
        case 's':
            options.download.segment_length = (size_t)number_between(optarg, "-s", 1, 1L << 30);
            break;
        case 'f':
            options.flaky = (unsigned)number_between(optarg, "-f", 1, 1000);
            break;
        case 'r':
            options.download.retries = (unsigned)number_between(optarg, "-r", 0, 1000);
            break;
        case 'p':
            options.download.progress = true;
            break;
        case 'v':
            options.verbose = true;
            break;
        default:
            fputs(usage, option == 'h' ? stdout : stderr);
            exit(option == 'h' ? 0 : 2);
        }
    }
    if (count - optind != 2) {
        fputs(usage, stderr);
        exit(2);
    }
    options.input = arguments[optind];
    options.output = arguments[optind + 1];
    return options;
}

static unsigned char *load(const char *path, size_t *length) {
    struct stat status;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &status) != 0)
        fatal_errno("%s", path);
    unsigned char *content = allocate((size_t)status.st_size, 1);
    *length = 0;
    for (ssize_t got; *length < (size_t)status.st_size; *length += (size_t)got) {
        got = read(file, content + *length, (size_t)status.st_size - *length);
        if (got < 0)
            fatal_errno("%s", path);
        if (got == 0)
            break;
    }
    close(file);
    return content;
}

static void save(const char *path, const unsigned char *content, size_t length) {
    int file = strcmp(path, "-") == 0 ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0)
        fatal_errno("%s", path);
    while (length > 0) {
        ssize_t now = write(file, content, length);
        if (now < 0)
            fatal_errno("%s", path);
        content += now;
        length -= (size_t)now;
    }
    if (file != STDOUT_FILENO && close(file) != 0)
        fatal_errno("%s", path);
}

int main(int count, char **arguments) {
    program_name = "pget";
    struct options options = parse(count, arguments);
    struct server server;
    struct download result;
    size_t length;
    crc32_prepare();
    unsigned char *content = load(options.input, &length);
    server_start(&server, content, length, options.server_threads, options.flaky);
    options.download.port = server.port;
    bool whole = download(&result, &options.download);
    server_stop(&server);
    if (!whole)
        fatal("%s cannot be downloaded whole", options.input);
    save(options.output, result.content, result.length);
    if (options.verbose)
        fprintf(stderr, "pget: %zu bytes with checksum %08x; %u answers, %u of them cut off, %u attempts repeated\n",
                result.length, (unsigned)result.checksum, server.answers, server.cut_off, result.failures);
    free(result.content);
    free(content);
    return 0;
}
