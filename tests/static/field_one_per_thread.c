// Field by field: each thread has a field of its own in one structure.
#include <pthread.h>

struct progress {
    int read;
    int written;
    char done_reading;
    char done_writing;
};

static struct progress progress;

static void *reader(void *arg) {
    struct progress *p = arg;
    p->read = 10; // NORACE
    p->done_reading = 1; // RACE!
    return NULL;
}

static void *writer(void *arg) {
    struct progress *p = arg;
    p->written = 7; // NORACE
#ifdef RACY
    p->done_reading = 1; // RACE!
#else
    p->done_writing = 1; // NORACE
#endif
    return NULL;
}

int main(void) {
    pthread_t r, w;
    pthread_create(&r, NULL, reader, &progress);
    pthread_create(&w, NULL, writer, &progress);
    pthread_join(r, NULL);
    pthread_join(w, NULL);
    return progress.read - progress.written; // NORACE
}
