/* A small server of one file, by HTTP/1.0 with ranges. */
#ifndef SERVER_H
#define SERVER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct server {
    int listener;
    unsigned short port;
    const unsigned char *content; /* not changed while the server runs */
    size_t length;
    uint32_t checksum;
    unsigned flaky; /* every so many answers are cut off in the middle; 0: none */
    unsigned thread_count;
    pthread_t *threads; /* each accepts connections and answers them */

    pthread_mutex_t lock; /* for what follows */
    unsigned answers;
    unsigned cut_off;
};

/* Starts to serve these bytes. */
void server_start(struct server *server, const unsigned char *content, size_t length, unsigned threads, unsigned flaky);

/* Tells every thread to stop, and waits for them. */
void server_stop(struct server *server);

#endif
