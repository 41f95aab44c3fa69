/* Downloading a file in segments with several threads. */
#ifndef DOWNLOAD_H
#define DOWNLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct download_options {
    unsigned short port;
    unsigned threads;
    size_t segment_length;
    unsigned retries;
    bool progress; /* tell on standard error how far it is */
};

struct download {
    unsigned char *content;
    size_t length;
    uint32_t checksum; /* computed segment by segment while others are still under way */
    uint32_t promised; /* what the server says it is */
    unsigned failures; /* attempts that had to be repeated */
};

/* Downloads the server's file; false if it cannot be had whole. The content is the caller's to free in any case. */
bool download(struct download *download, const struct download_options *options);

#endif
