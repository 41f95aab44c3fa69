/* Connections on the loopback network, with buffers. */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>

#define STREAM_BUFFER 8192

struct stream {
    int socket;
    char in[STREAM_BUFFER];
    size_t first, end; /* what was received and not read yet */
    char out[STREAM_BUFFER];
    size_t held; /* what was written and not sent yet */
};

/* A socket that waits for connections on a port that the system chooses. */
int stream_listen(unsigned short *port);

/* Waits for a connection. */
void stream_accept(struct stream *stream, int listener);

/* Connects to a port of this machine; false if nobody listens there. */
bool stream_connect(struct stream *stream, unsigned short port);

void stream_close(struct stream *stream);

/* Reading; false when the other side has closed the connection. Lines come without their end and are cut to `size`. */
bool stream_read_line(struct stream *stream, char *line, size_t size);
size_t stream_read(struct stream *stream, unsigned char *to, size_t length); /* some bytes; 0 at the end */

/* Writing; false when the other side does not listen any more. What is written is sent when the buffer is full, and by
 * `stream_flush`. */
bool stream_write(struct stream *stream, const void *bytes, size_t length);
bool stream_format(struct stream *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool stream_flush(struct stream *stream);

#endif
