// A downloader: two threads fetch a part each, in pieces, and add what has arrived under a lock. Whoever wants to go on
// another day has the state saved: main stops the threads by a word under the lock and then writes the places down, without
// waiting for the threads to end.
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define PARTS 2
#define PIECES 2
#define SIZE 8

static const char remote[SIZE + 1] = "download";
static char local[SIZE + 1];
static int place[PARTS];
static int arrived, is_stopped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Whether to go on, after a piece.
static int note(int bytes) {
    pthread_mutex_lock(&lock);
    arrived += bytes;
    int go_on = !is_stopped;
    pthread_mutex_unlock(&lock);
    return go_on;
}

static void *fetch(void *arg) {
    int part = arg != 0, piece = SIZE / PARTS / PIECES;
    int start = part * SIZE / PARTS;
    for (int i = 0; i < PIECES; i++) {
        int from = start + i * piece;
        memcpy(local + from, remote + from, (unsigned)piece);
#ifdef FIXED
        pthread_mutex_lock(&lock);
        place[part] = from + piece;
        pthread_mutex_unlock(&lock);
#else
        place[part] = from + piece;
#endif
        if (!note(piece))
            break;
    }
    return 0;
}

// What a later call would begin with.
static int saved(void) {
    int sum = 0;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    for (int part = 0; part < PARTS; part++)
        sum += place[part];
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return sum;
}

int main(void) {
    pthread_t threads[PARTS];
    for (int part = 0; part < PARTS; part++)
        pthread_create(&threads[part], 0, fetch, part ? &arrived : 0);
    usleep(30000);
    pthread_mutex_lock(&lock);
    is_stopped = 1;
    pthread_mutex_unlock(&lock);
    int state = saved();
    for (int part = 0; part < PARTS; part++)
        pthread_join(threads[part], 0);
    return state < 0;
}
