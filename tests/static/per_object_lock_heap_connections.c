// Per-object locks: connections on the heap, each shared by the thread that serves it and by main.
#include <pthread.h>
#include <stdlib.h>

struct connection {
    pthread_mutex_t lock;
    int bytes;
    int closing;
};

static struct connection *connect_new(void) {
    struct connection *c = malloc(sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->bytes = 0; // NORACE
    c->closing = 0; // NORACE
    return c;
}

static void *serve(void *arg) {
    struct connection *c = arg;
    pthread_mutex_lock(&c->lock);
    if (!c->closing) // NORACE
        c->bytes += 512; // RACE!
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

int main(void) {
    struct connection *connections[2];
    pthread_t threads[2];
    int bytes = 0;
    for (int i = 0; i < 2; i++) {
        connections[i] = connect_new();
        pthread_create(&threads[i], NULL, serve, connections[i]);
    }
    pthread_mutex_lock(&connections[0]->lock);
    connections[0]->closing = 1; // NORACE
#ifdef RACY
    bytes = connections[1]->bytes; // RACE!
#endif
    pthread_mutex_unlock(&connections[0]->lock);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        bytes += connections[i]->bytes; // NORACE
        free(connections[i]);
    }
    return bytes;
}
