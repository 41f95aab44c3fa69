// Threads allocate, free each other's blocks, and free wrongly.
#include "rp.h"
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

char *shared[2];

static void *use(void *arg) {
    long n = (long)arg;
    char *mine = AT(malloc(100));
    memset(mine, (int)n, 100);
    char *big = AT(calloc(1 << 20, 1));
    for (int i = 0; i < 1 << 20; i += 4096)
        if (big[i])
            abort();
    big = AT(realloc(big, 2 << 20));
    STORE(shared[n], mine);
    AT(free(big));
    // The other's block, if it is there.
    char *other = LOAD(shared[1 - n]);
    if (other) {
        STORE(shared[1 - n], 0);
        AT(free(other));
    }
    void *aligned = 0;
    if (AT(posix_memalign(&aligned, 256, 10)) || (uintptr_t)aligned % 256 || malloc_usable_size(aligned) < 10)
        abort();
    AT(free(aligned));
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    AT(free(0));
    for (long i = 0; i < 2; i++)
        AT(pthread_create(&threads[i], 0, use, (void *)i));
    for (long i = 0; i < 2; i++)
        AT(pthread_join(threads[i], 0));
    if (argc > 1) {
        char *volatile p = AT(malloc(8));
        AT(free(p));
        AT(free(p));
        void *volatile not_a_block = &shared;
        AT(free(not_a_block));
    }
    return 0;
}
