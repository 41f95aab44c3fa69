#include "server.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crc32.h"
#include "fatal.h"
#include "stream.h"

enum method { METHOD_GET, METHOD_HEAD, METHOD_STOP, METHOD_UNKNOWN };

struct request {
    enum method method;
    bool ranged;
    size_t first, last; /* both are wanted */
};

static enum method method_named(const char *name) {
    if (strcmp(name, "GET") == 0)
        return METHOD_GET;
    if (strcmp(name, "HEAD") == 0)
        return METHOD_HEAD;
    return strcmp(name, "STOP") == 0 ? METHOD_STOP : METHOD_UNKNOWN;
}

/* Reads a request; false if the connection ends before it does. */
static bool read_request(struct stream *stream, struct request *request) {
    char line[256], method[16];
    if (!stream_read_line(stream, line, sizeof line))
        return false;
    *request = (struct request){.method = METHOD_UNKNOWN};
    if (sscanf(line, "%15s", method) == 1)
        request->method = method_named(method);
    while (stream_read_line(stream, line, sizeof line)) {
        if (line[0] == '\0')
            return true;
        if (sscanf(line, "Range: bytes=%zu-%zu", &request->first, &request->last) == 2)
            request->ranged = true;
    }
    return false;
}

/* Whether this answer is one of those that are cut off. */
static bool is_cut_off(struct server *server) {
    must(pthread_mutex_lock(&server->lock), "pthread_mutex_lock");
    server->answers++;
    bool cut = server->flaky != 0 && server->answers % server->flaky == 0;
    server->cut_off += cut;
    pthread_mutex_unlock(&server->lock);
    return cut;
}

static void answer_get(struct server *server, struct stream *stream, const struct request *request) {
    size_t first = 0, end = server->length;
    if (request->ranged) {
        if (request->first > request->last || request->last >= server->length) {
            stream_format(stream, "HTTP/1.0 416 Range Not Satisfiable\r\n\r\n");
            stream_flush(stream);
            return;
        }
        first = request->first;
        end = request->last + 1;
    }
    stream_format(stream, "HTTP/1.0 %s\r\nContent-Length: %zu\r\n", request->ranged ? "206 Partial Content" : "200 OK",
                  end - first);
    if (request->ranged)
        stream_format(stream, "Content-Range: bytes %zu-%zu/%zu\r\n", first, end - 1, server->length);
    stream_format(stream, "\r\n");
    if (is_cut_off(server))
        end = first + (end - first) / 2;
    stream_write(stream, server->content + first, end - first);
    stream_flush(stream);
}

static void answer(struct server *server, struct stream *stream, const struct request *request) {
    switch (request->method) {
    case METHOD_GET:
        answer_get(server, stream, request);
        return;
    case METHOD_HEAD:
        stream_format(stream, "HTTP/1.0 200 OK\r\nContent-Length: %zu\r\nX-Checksum: %08x\r\n\r\n", server->length,
                      (unsigned)server->checksum);
        break;
    case METHOD_STOP:
        stream_format(stream, "HTTP/1.0 200 OK\r\n\r\n");
        break;
    case METHOD_UNKNOWN:
        stream_format(stream, "HTTP/1.0 501 Not Implemented\r\n\r\n");
        break;
    }
    stream_flush(stream);
}

/* A thread of the server: one connection after another. */
static void *serve(void *argument) {
    struct server *server = argument;
    struct stream *stream = allocate(1, sizeof *stream);
    struct request request = {.method = METHOD_UNKNOWN};
    while (request.method != METHOD_STOP) {
        stream_accept(stream, server->listener);
        if (read_request(stream, &request))
            answer(server, stream, &request);
        stream_close(stream);
    }
    free(stream);
    return NULL;
}

void server_start(struct server *server, const unsigned char *content, size_t length, unsigned threads, unsigned flaky) {
    *server = (struct server){.content = content, .length = length, .thread_count = threads, .flaky = flaky};
    server->checksum = crc32(0, content, length);
    server->listener = stream_listen(&server->port);
    server->threads = allocate(threads, sizeof *server->threads);
    must(pthread_mutex_init(&server->lock, NULL), "pthread_mutex_init");
    for (unsigned i = 0; i < threads; i++)
        must(pthread_create(&server->threads[i], NULL, serve, server), "pthread_create");
}

void server_stop(struct server *server) {
    char line[64];
    struct stream *stream = allocate(1, sizeof *stream);
    for (unsigned i = 0; i < server->thread_count; i++) {
        if (!stream_connect(stream, server->port))
            fatal_errno("connect");
        stream_format(stream, "STOP / HTTP/1.0\r\n\r\n");
        stream_flush(stream);
        stream_read_line(stream, line, sizeof line);
        stream_close(stream);
    }
    for (unsigned i = 0; i < server->thread_count; i++)
        must(pthread_join(server->threads[i], NULL), "pthread_join");
    free(stream);
    close(server->listener);
    pthread_mutex_destroy(&server->lock);
    free(server->threads);
}
