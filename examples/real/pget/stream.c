#include "stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fatal.h"

static struct sockaddr_in loopback(unsigned short port) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

int stream_listen(unsigned short *port) {
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0)
        fatal_errno("socket");
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0)
        fatal_errno("bind");
    if (listen(listener, 16) != 0)
        fatal_errno("listen");
    if (getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        fatal_errno("getsockname");
    *port = ntohs(address.sin_port);
    return listener;
}

static void start(struct stream *stream, int socket) {
    stream->socket = socket;
    stream->first = stream->end = stream->held = 0;
}

void stream_accept(struct stream *stream, int listener) {
    int socket;
    do
        socket = accept(listener, NULL, NULL);
    while (socket < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (socket < 0)
        fatal_errno("accept");
    start(stream, socket);
}

bool stream_connect(struct stream *stream, unsigned short port) {
    struct sockaddr_in address = loopback(port);
    int made = socket(AF_INET, SOCK_STREAM, 0);
    if (made < 0)
        fatal_errno("socket");
    if (connect(made, (struct sockaddr *)&address, sizeof address) != 0) {
        close(made);
        return false;
    }
    start(stream, made);
    return true;
}

void stream_close(struct stream *stream) {
    close(stream->socket);
}

/* Receives more into an empty buffer; false at the end. */
static bool refill(struct stream *stream) {
    ssize_t got;
    do
        got = recv(stream->socket, stream->in, sizeof stream->in, 0);
    while (got < 0 && errno == EINTR);
    stream->first = 0;
    stream->end = got > 0 ? (size_t)got : 0;
    return got > 0;
}

bool stream_read_line(struct stream *stream, char *line, size_t size) {
    size_t length = 0;
    for (;;) {
        if (stream->first == stream->end && !refill(stream))
            return false;
        char c = stream->in[stream->first++];
        if (c == '\n')
            break;
        if (c != '\r' && length + 1 < size)
            line[length++] = c;
    }
    line[length] = '\0';
    return true;
}

size_t stream_read(struct stream *stream, unsigned char *to, size_t length) {
    if (stream->first == stream->end && !refill(stream))
        return 0;
    size_t ready = stream->end - stream->first;
    if (length > ready)
        length = ready;
    memcpy(to, stream->in + stream->first, length);
    stream->first += length;
    return length;
}

bool stream_flush(struct stream *stream) {
    for (size_t sent = 0; sent < stream->held;) {
        ssize_t now = send(stream->socket, stream->out + sent, stream->held - sent, MSG_NOSIGNAL);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            return false;
        sent += (size_t)now;
    }
    stream->held = 0;
    return true;
}

bool stream_write(struct stream *stream, const void *bytes, size_t length) {
    for (const char *from = bytes; length > 0;) {
        size_t room = sizeof stream->out - stream->held, now = length < room ? length : room;
        memcpy(stream->out + stream->held, from, now);
        stream->held += now;
        from += now;
        length -= now;
        if (stream->held == sizeof stream->out && !stream_flush(stream))
            return false;
    }
    return true;
}

bool stream_format(struct stream *stream, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        fatal("a header is too long");
    return stream_write(stream, text, (size_t)length);
}
