// Thread-specific slots: two threads with constant, different indices.
#include <pthread.h>

enum { READER, WRITER };
static int progress[2];

static void *reader(void *arg) {
    progress[READER]++; // NORACE
    return arg;
}

static void *writer(void *arg) {
    progress[WRITER]++; // RACE!
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
#ifdef RACY
    int seen = progress[WRITER]; // RACE!
#else
    int seen = 0;
#endif
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return seen + progress[READER] + progress[WRITER]; // NORACE
}
