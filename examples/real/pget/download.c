#include "download.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crc32.h"
#include "fatal.h"
#include "plan.h"
#include "stream.h"

#ifndef BUG
#define BUG 0
#endif

struct job {
    const struct download_options *options;
    unsigned char *content;
    struct plan plan;
};

struct answer {
    unsigned status;
    size_t length;
    unsigned checksum;
};

/* Reads status and headers; false if the connection ends before they do. */
static bool read_answer(struct stream *stream, struct answer *answer) {
    char line[256];
    *answer = (struct answer){0};
    if (!stream_read_line(stream, line, sizeof line) || sscanf(line, "HTTP/1.0 %u", &answer->status) != 1)
        return false;
    while (stream_read_line(stream, line, sizeof line)) {
        if (line[0] == '\0')
            return true;
        if (sscanf(line, "Content-Length: %zu", &answer->length) != 1)
            sscanf(line, "X-Checksum: %x", &answer->checksum);
    }
    return false;
}

/* Asks how long the file is. */
static bool ask_for_length(struct download *download, unsigned short port) {
    struct stream *stream = allocate(1, sizeof *stream);
    struct answer answer;
    bool connected = stream_connect(stream, port), known = false;
    if (connected && stream_format(stream, "HEAD / HTTP/1.0\r\n\r\n") && stream_flush(stream) &&
        read_answer(stream, &answer) && answer.status == 200) {
        download->length = answer.length;
        download->promised = answer.checksum;
        known = true;
    }
    if (connected)
        stream_close(stream);
    free(stream);
    return known;
}

/* Fetches what is missing of a segment, as far as the connection lasts. */
static void fetch_rest(struct job *job, struct stream *stream, struct segment *segment) {
    struct answer answer;
    size_t first = segment->first + segment->received, last = segment->first + segment->length - 1;
    stream_format(stream, "GET / HTTP/1.0\r\nRange: bytes=%zu-%zu\r\n\r\n", first, last);
    if (!stream_flush(stream) || !read_answer(stream, &answer) || answer.status != 206 ||
        answer.length != segment->length - segment->received)
        return;
#if BUG == 1
    /* The twin's mistake: the server has promised the bytes, so the segment is as good as complete. Who waits for it reads
     * them before they are there. */
    plan_complete(&job->plan, segment);
#endif
    while (segment->received < segment->length) {
        unsigned char *to = job->content + segment->first + segment->received;
        size_t got = stream_read(stream, to, segment->length - segment->received);
        if (got == 0)
            return;
        segment->received += got;
        plan_progress(&job->plan, got);
    }
}

static bool fetch(struct job *job, struct stream *stream, struct segment *segment) {
    if (!stream_connect(stream, job->options->port))
        return false;
    fetch_rest(job, stream, segment);
    stream_close(stream);
    return segment->received == segment->length;
}

/* A fetching thread: one segment after another. */
static void *fetch_segments(void *argument) {
    struct job *job = argument;
    struct stream *stream = allocate(1, sizeof *stream);
    for (struct segment *segment; (segment = plan_take(&job->plan)) != NULL;) {
        if (!fetch(job, stream, segment))
            plan_fail(&job->plan, segment);
        else if (BUG != 1)
            plan_complete(&job->plan, segment);
    }
    free(stream);
    return NULL;
}

/* Checks segments in order as they become complete: the calling thread's part. */
static bool check_segments(struct job *job, struct download *download) {
    for (size_t i = 0; i < job->plan.count; i++) {
        size_t received;
        if (!plan_wait(&job->plan, i, &received))
            return false;
        const struct segment *segment = &job->plan.segments[i];
        download->checksum = crc32(download->checksum, job->content + segment->first, segment->length);
        if (job->options->progress)
            fprintf(stderr, "%s: %zu of %zu bytes, %zu of %zu segments checked\n", program_name, received,
                    download->length, i + 1, job->plan.count);
    }
    return true;
}

bool download(struct download *download, const struct download_options *options) {
    *download = (struct download){0};
    if (!ask_for_length(download, options->port))
        return false;
    download->content = allocate(download->length, 1);
    struct job job = {.options = options, .content = download->content};
    pthread_t *threads = allocate(options->threads, sizeof *threads);
    plan_init(&job.plan, download->length, options->segment_length, options->retries);
    for (unsigned i = 0; i < options->threads; i++)
        must(pthread_create(&threads[i], NULL, fetch_segments, &job), "pthread_create");
    bool whole = check_segments(&job, download);
    for (unsigned i = 0; i < options->threads; i++)
        must(pthread_join(threads[i], NULL), "pthread_join");
    for (size_t i = 0; i < job.plan.count; i++)
        download->failures += job.plan.segments[i].failures;
    plan_destroy(&job.plan);
    free(threads);
    return whole && download->checksum == download->promised;
}
