// Which thread writes is drawn: by the same numbers in every run, so that the runs of a search repeat each other.
// Shows: randomness: `rand`, `random`, `getrandom`, `/dev/urandom`, `getpid` and addresses: the same in every run
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum;

static void *draw(void *arg) {
    unsigned long drawn[2] = {0, 0};
    int file = open("/dev/urandom", O_RDONLY);
    if (read(file, &drawn[0], sizeof drawn[0]) < 0 || getrandom(&drawn[1], sizeof drawn[1], 0) < 0)
        abort();
    close(file);
    pthread_mutex_lock(&lock);
    sum += drawn[0] ^ drawn[1] ^ (unsigned long)rand() ^ (unsigned long)random() ^ (unsigned long)getpid() ^ (uintptr_t)drawn;
    if (sum % 2 == 0)
        sum++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, draw, NULL);
    draw(NULL);
    pthread_join(thread, NULL);
    return 0;
}
