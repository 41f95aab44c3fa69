// A block compressor of THREADS threads beside main. One writes the file's header, which main hands to it in two steps, by
// a word under a lock. The others are created when it is written: each takes a block, packs it and puts it out under
// locks. Three locks: the input, the output, the statistics. Packing makes BYTES accesses to a block.
#include <pthread.h>

#ifndef THREADS
#define THREADS 4
#endif
#ifndef BYTES
#define BYTES 1
#endif
#define PACKERS (THREADS - 1)

static char input[BYTES], output[BYTES];
static int magic, level, handed, header, taken, steps;
static pthread_mutex_t in = PTHREAD_MUTEX_INITIALIZER, out = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;

static void *pack(void *arg) {
    char block[BYTES];
    pthread_mutex_lock(&in);
    for (int i = 0; i < BYTES; i++)
        block[i] = input[i]++;
    taken++;
    pthread_mutex_unlock(&in);
    pthread_mutex_lock(&out);
    for (int i = 0; i < BYTES; i++)
        output[i] ^= block[i] ^ 0x55;
    pthread_mutex_unlock(&out);
    return arg;
}

// How many parts of the header may be looked at.
static int parts(void) {
    pthread_mutex_lock(&out);
    int seen = handed;
    pthread_mutex_unlock(&out);
    return seen;
}

static void *write_header(void *arg) {
    int sum = 0;
    if (parts() > 0)
        sum += magic;
    if (parts() > 1)
        sum += level;
    pthread_mutex_lock(&out);
    header = sum;
    pthread_mutex_unlock(&out);
    pthread_mutex_lock(&statistics);
    steps++;
    pthread_mutex_unlock(&statistics);
    return arg;
}

static void hand_over(void) {
    pthread_mutex_lock(&out);
    handed++;
    pthread_mutex_unlock(&out);
}

int main(void) {
    pthread_t packers[PACKERS], writer;
    pthread_create(&writer, 0, write_header, 0);
    magic = 'B';
    hand_over();
    level = '9';
    hand_over();
    pthread_mutex_lock(&statistics);
    steps++;
    pthread_mutex_unlock(&statistics);
    pthread_join(writer, 0);
    for (int i = 0; i < PACKERS; i++)
        pthread_create(&packers[i], 0, pack, 0);
    for (int i = 0; i < PACKERS; i++)
        pthread_join(packers[i], 0);
    return taken == PACKERS ? 0 : 1;
}
